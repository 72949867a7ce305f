#pragma once
#include <map>
#include <memory>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/decomposition.hpp"
#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/field.hpp"
#include "core/decomp/memory_need.hpp"

namespace sluice {

/// Fills the halos of fields from the neighbouring ranks. y is periodic, z only where that is asked for. Afterwards
/// every halo value that belongs to another rank (in y, also to the other side of the period) is valid in all of the
/// field's layers, edges included. The halo planes at the walls are not touched: the wall conditions fill them
/// afterwards, y halo included.
class HaloExchange {
 public:
  using Fields = std::vector<Field*>;

  /// How many halo layers next to a rank's cells are filled on either side.
  struct Layers {
    int lower, upper;
  };

  /// For fields over the rank's x pencil `box`. `comm` and `exchange` must outlive this object. Collective over all
  /// ranks.
  HaloExchange(const Communicator& comm, const Box3& box, Exchange& exchange, bool periodic_z = false);

  /// Exchanges y first, then z with the y halo included, so that edges are valid. The first update with new halo widths
  /// may enlarge the exchange's buffers. Throws Error(resources) on all ranks if a rank owns fewer rows or planes than
  /// the halo is wide. Collective over all ranks, with the same fields in the same order.
  void update(const Fields& fields);

  /// Fills some halo layers of one field only: in y without edges, in z with the y halo as it is. Collective.
  void update_y(Field& field, Layers layers);
  void update_z(Field& field, Layers layers);

  /// Where the plane beyond a field's halo on either side goes: fields over one plane of the rank's rows, or null. The
  /// same on all ranks.
  struct PlanesBeyond {
    Field *below = nullptr, *above = nullptr;
  };
  /// Fills one halo layer on either side, with the y halo as it is, and the planes beyond without their y halo.
  /// Only if neighbours_own_two_planes(). Collective.
  void update_z(Field& field, const PlanesBeyond& beyond);

  /// Starts to fill the z halos of fields, without edges, while loops and other exchanges go on; `peer` does so, other
  /// methods wait for finish_z(). Until then, do not write the fields. After an exception in between, this object must
  /// not be used again. Collective.
  void start_z(const Fields& fields);
  /// Collective.
  void finish_z();
  /// Fills the y halos in all planes, z halos included. Collective.
  void update_y(const Fields& fields);

  /// Whether there are ranks below and above.
  bool has_lower() const { return z_.lower != no_rank; }
  bool has_upper() const { return z_.upper != no_rank; }
  /// Whether z is split, with walls at its ends, and every rank owns two planes or more: then a rank's neighbours own
  /// the planes beyond its halos. The same on all ranks.
  bool neighbours_own_two_planes() const { return split(z_) && !periodic_z_ && z_.min_cells > 1; }

  // Of any rank, also of process grids that are not running. Local.
  static bool neighbours_own_two_planes(const Decomposition& decomposition, bool periodic_z);
  /// Memory that update() of fields with these halos needs.
  static ExchangeNeed memory(const Decomposition& decomposition, int rank, const std::vector<HaloWidth>& halos,
                             bool periodic_z);
  /// Memory that start_z() and update_y() of such fields need beside.
  static ExchangeNeed memory_ahead(const Decomposition& decomposition, int rank, const std::vector<HaloWidth>& started,
                                   const std::vector<HaloWidth>& along_y);
  /// Bytes of the halos of such fields on one side of a rank that owns `box`, along axis 1 or 2.
  static double side_bytes(const Box3& box, int axis, const std::vector<HaloWidth>& halos, bool with_edges);

 private:
  static constexpr int no_rank = -1;

  /// Layers of an axis are exchanged with the ranks below and above in a row or column.
  struct Direction {
    MPI_Comm comm = MPI_COMM_NULL;
    int axis = 0;
    int ranks = 1;                                              ///< of the communicator
    int cells = 0;                                              ///< cells that the rank owns along the axis
    int min_cells = 0;                                          ///< the minimum over the ranks
    int lower = no_rank, upper = no_rank;                       ///< ranks in the communicator; no_rank at a wall
    std::map<std::vector<int>, std::unique_ptr<Mover>> movers;  ///< by layers and halo widths; made on first use
  };
  /// Which layers of an axis are exchanged, and whether they include the halo along the other axis.
  struct Extent {
    Layers layers;
    bool with_edges;
  };
  struct Message {
    Parts outgoing, incoming;
  };
  enum class When { now, in_background };

  static constexpr Layers all{-1, -1};  ///< as many as each field has

  static bool split(const Direction& direction);
  void require(const Fields& fields) const;
  void update(Direction& direction, const Fields& fields, const Extent& extent);
  static Message message_of(const Direction& direction, const Fields& fields, const Extent& extent);
  Mover& mover_of(Direction& direction, const Message& message, std::vector<int> key, When when);
  static std::vector<int> key_of(const Fields& fields, const Extent& extent);
  void wrap(const Direction& direction, const Fields& fields, const Extent& extent) const;

  Box3 box_;
  Exchange* exchange_;
  bool periodic_z_;
  Direction y_, z_;
  Mover* started_ = nullptr;    ///< by start_z()
  bool in_background_ = false;  ///< whether it moves meanwhile
  Message waiting_;             ///< what finish_z() moves otherwise
};

}  // namespace sluice
