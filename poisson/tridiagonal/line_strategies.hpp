#pragma once
// What the strategies of LineSolver share, and the factory of the GPU strategies.
#include <memory>
#include <vector>

#include "core/decomp/transpose.hpp"
#include "core/device/buffer.hpp"
#include "poisson/tridiagonal/line_solver.hpp"

namespace sluice {

/// Boundary values of blocks, two planes per block, without gaps. `lines`: the rank's box, in lines; its planes are
/// ignored.
class BoundaryValues {
 public:
  BoundaryValues(const Box3& lines, int components, int blocks)
      : planes_(2 * blocks), data_(static_cast<std::size_t>(lines.extent(0) * lines.extent(1) * components * planes_)) {
    const std::int64_t row = lines.extent(0) * components;
    array_ = {data_.data(), row, row * lines.extent(1), static_cast<int>(row), lines.ny()};
  }
  const LineArray& array() const { return array_; }
  int planes() const { return planes_; }

 private:
  int planes_;
  Buffer<real> data_;
  LineArray array_;
};

/// Makes the lines of a process column whole, and splits them again. Does nothing if z is not split.
class ColumnTranspose {
 public:
  ColumnTranspose(const Communicator& comm, const Decomposition& decomposition, const LineBoxes& boxes,
                  const LinePlan& plan, int components, Exchange& exchange);

  /// Memory on one rank. Local.
  static MemoryNeed memory(const Decomposition& decomposition, const LineBoxes& boxes, const LinePlan& plan,
                           int components);

  /// Moves `home` to the returned array of whole lines. Collective over the column.
  LineArray forward(const LineArray& home, int planes);
  /// Moves that array back to `home`. Collective over the column.
  void backward(const LineArray& home, int planes);

 private:
  std::unique_ptr<Transpose<real>> transpose_;
  LineArray whole_;
};

/// Makes the strategies tiles, condensed and two_passes_on_chip. Not defined in a CPU build.
template <class Lines>
std::unique_ptr<LineSolver<Lines>> make_gpu_line_solver(const Communicator& comm, const Decomposition& decomposition,
                                                        const LineBoxes& boxes, const LinePlan& plan,
                                                        Exchange& exchange);

}  // namespace sluice
