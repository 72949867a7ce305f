#pragma once
#include <map>
#include <memory>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/field.hpp"
#include "core/decomp/memory_need.hpp"

namespace sluice {

/// Fills the halo of fields from the neighbouring ranks, y periodic, z not. Afterwards every halo value that belongs to
/// another rank (or, in y, to the other side of the period) is valid, as many layers as each field has, edges included.
/// The halo planes at the walls are not touched: they belong to the wall conditions, which come afterwards and fill
/// them whole, y halo included.
///
/// Between start() and finish(), loops may run that neither write the fields nor read their halos, and other Exchanges
/// may move arrays; the Exchange of this object may not. In flight is the axis y, or z if y is not split.
class HaloExchange {
 public:
  using Fields = std::vector<Field*>;

  /// Of a rank's cells, where halo layers lie.
  enum class Side { lower, upper };

  /// For fields over the rank's x pencil `box`. `comm` and `exchange` must outlive this object. Collective over all
  /// ranks.
  HaloExchange(const Communicator& comm, const Box3& box, Exchange& exchange);

  /// First y, then z with the y halo included, so that edges are right. The first update of fields with these halo
  /// widths makes the exchange's buffers grow if need be. Throws Error(resources), on all ranks, if some rank owns
  /// fewer rows or planes than a neighbour's halo is wide. Collective over all ranks, with the same fields in the same
  /// order.
  void update(const Fields& fields) {
    start(fields);
    finish();
  }
  /// The two halves of an update. The fields must stay where they are.
  void start(const Fields& fields);
  void finish();

  /// Fills the layer next to the cells of one field, for what needs no more: in y without edges, in z with the y halo
  /// as it is. Collective.
  void update_y(Field& field, Side side);
  void update_z(Field& field, Side side);

  /// What updates of fields with these halos need on a rank that owns `box`. Local, for any rank.
  static MemoryNeed memory(const Box3& box, const ProcessGrid& processes, const std::vector<HaloWidth>& halos);

 private:
  static constexpr int nobody = -1;

  /// Layers of an axis are traded with the ranks below and above in a row or column.
  struct Direction {
    MPI_Comm comm = MPI_COMM_NULL;
    int axis = 0;
    int cells = 0;                                              ///< that the rank owns along the axis
    int min_cells = 0;                                          ///< that any rank owns
    int lower = nobody, upper = nobody;                         ///< ranks in the communicator; nobody beyond a wall
    std::map<std::vector<int>, std::unique_ptr<Mover>> movers;  ///< by sides and halo widths; made when first needed
  };

  /// Which halo layers are filled.
  struct Layers {
    bool lower = true, upper = true;
    int max_count = 0;  ///< 0: as many as the field has
  };

  static bool split(const Direction& direction);
  void require(const Fields& fields) const;
  void start(Direction& direction, const Fields& fields, const Layers& layers);
  void wrap_y(const Fields& fields, const Layers& layers) const;

  Box3 box_;
  Exchange* exchange_;
  Direction y_, z_;
  Fields fields_;  ///< of the update in flight
  Mover* in_flight_ = nullptr;
};

}  // namespace sluice
