#pragma once
#include <cstddef>
#include <initializer_list>

#include "core/decomp/communicator.hpp"
#include "core/decomp/field.hpp"
#include "core/decomp/host_access.hpp"

namespace sluice {

/// Fills the halo of fields from the neighbouring ranks, y periodic, z not. Afterwards every halo value that
/// belongs to another rank (or, in y, to the other side of the period) is valid, edges included. The halo
/// planes at the walls are not touched: they belong to the wall conditions, which come afterwards and fill
/// them whole, y halo included.
class HaloExchange {
 public:
  /// For fields over the rank's x pencil `box` with rows of at most `row_length` elements, `fields` of them
  /// at a time.
  HaloExchange(const Communicator& comm, const Box3& box, std::int64_t row_length, int fields);

  /// Collective over all ranks: first y, then z with the y halo included, so that edges are right.
  void update(std::initializer_list<Field*> fields);

 private:
  void update_y(std::initializer_list<Field*> fields);
  void update_z(std::initializer_list<Field*> fields);
  /// Sends `count` elements from each half of the send buffer to (lower, upper) and receives from (upper,
  /// lower).
  void trade(MPI_Comm comm, int lower, int upper, std::size_t count);

  Box3 box_;
  std::size_t max_fields_;
  MPI_Comm row_, column_;
  int y_lower_, y_upper_;  ///< ranks in the row
  int z_lower_, z_upper_;  ///< ranks in the column, or MPI_PROC_NULL at a wall
  std::size_t half_ = 0;   ///< elements for one side
  Buffer<real> send_, receive_;
  HostImage send_image_, receive_image_;
};

}  // namespace sluice
