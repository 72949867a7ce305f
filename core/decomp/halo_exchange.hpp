#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/field.hpp"

namespace sluice {

/// Fills the halo of fields from the neighbouring ranks, y periodic, z not. Afterwards every halo value that
/// belongs to another rank (or, in y, to the other side of the period) is valid, edges included. The halo
/// planes at the walls are not touched: they belong to the wall conditions, which come afterwards and fill
/// them whole, y halo included.
class HaloExchange {
 public:
  static constexpr std::size_t most_fields = 8;

  /// Of a rank's cells, where halo layers lie.
  enum class Side { lower, upper };

  /// For fields over the rank's x pencil `box`, `fields` of them at a time, at most most_fields. `comm` and `exchange`
  /// must outlive this object. Collective over all ranks.
  HaloExchange(const Communicator& comm, const Box3& box, std::size_t fields, Exchange& exchange);

  /// Collective over all ranks: first y, then z with the y halo included, so that edges are right.
  void update(const std::vector<Field*>& fields);
  /// Fills one layer of one field, for what needs no more: in y without edges, in z with the y halo as it is.
  /// Collective.
  void update_y(Field& field, Side side);
  void update_z(Field& field, Side side);

 private:
  static constexpr int nobody = -1;

  /// What is to be known of y or z: layers of rows are traded with the ranks below and above in a row or column.
  struct Direction {
    int rows = 0;                                              ///< of a layer
    int last = 0;                                              ///< index of the last layer that the rank owns
    int lower = nobody, upper = nobody;                        ///< ranks in the communicator; nobody beyond a wall
    std::vector<std::unique_ptr<Connection>> connections;      ///< [n]: for n + 1 fields; none on one rank
    std::unique_ptr<Connection> to_lower_halo, to_upper_halo;  ///< for a layer of one field

    bool split() const { return !connections.empty(); }
  };

  /// Which halo layers are filled at a time, and by what.
  struct Trade {
    Connection* connection;
    bool lower, upper;
  };

  void require(const std::vector<Field*>& fields) const;
  void connect(MPI_Comm comm, std::size_t fields, Exchange& exchange, Direction& direction) const;
  void wrap_y(const std::vector<Field*>& fields, bool lower, bool upper) const;
  static Trade both_sides(const Direction& direction, std::size_t fields);
  static Trade one_side(const Direction& direction, Side side);
  template <class LayerOf>
  void trade(const Direction& direction, const Trade& trade, const std::vector<Field*>& fields,
             const LayerOf& layer_of) const;

  Box3 box_;
  std::size_t max_fields_;
  Direction y_, z_;
};

}  // namespace sluice
