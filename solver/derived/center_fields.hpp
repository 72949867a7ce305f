#pragma once
#include <mpi.h>

#include <array>
#include <vector>

#include "core/device/buffer.hpp"
#include "core/stencil/order.hpp"
#include "model/field_descriptor.hpp"
#include "solver/grid/grid.hpp"
#include "solver/state/state.hpp"
#include "solver/statistics/plane_means.hpp"

namespace sluice {

/// Cells of a rank: all combinations of these local indices.
struct CellChoice {
  explicit CellChoice(const std::array<std::vector<int>, 3>& indices)
      : x(indices[0]), y(indices[1]), z(indices[2]), box(box_of(size(x), size(y), size(z))) {}

  Buffer<int> x, y, z;
  Box3 box;  ///< counts them

 private:
  static std::int64_t size(const Buffer<int>& list) { return static_cast<std::int64_t>(list.size()); }
};

/// Computes such quantities.
class CenterFields {
 public:
  /// `box`: the cells of this rank. `walls` must outlive this object.
  CenterFields(const Grid& grid, const Metrics& metrics, Order order, const Walls& walls, const Box3& box,
               MPI_Comm comm)
      : metrics_(metrics), order_(order), cells_(grid.cells()), means_(grid.cells(), box, walls, comm) {}

  /// The components at the chosen cells, each in host memory, x fastest. T: float or double. Needs valid halos.
  /// Collective.
  template <class T>
  std::vector<std::vector<T>> compute(const State& state, const CenterQuantity& quantity, const CellChoice& cells);

 private:
  template <Order order, class T>
  std::vector<std::vector<T>> compute_in_order(const State& state, const CenterQuantity& quantity,
                                               const CellChoice& cells);

  Metrics metrics_;
  Order order_;
  std::array<std::int64_t, 3> cells_;
  PlaneMeans means_;
};

}  // namespace sluice
