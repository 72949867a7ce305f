#pragma once
// What the strategies of LineSolver share, and how a GPU build makes those of its own.
#include <memory>
#include <vector>

#include "core/decomp/transpose.hpp"
#include "core/device/buffer.hpp"
#include "poisson/tridiagonal/line_solver.hpp"

namespace sluice {

/// Values at the ends of blocks, two planes for each: those of `lines` (in lines, of any planes) without gaps.
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

/// Makes the lines of a process column whole, and splits them again. Where z is not split it does nothing.
class ColumnTranspose {
 public:
  ColumnTranspose(const Communicator& comm, const Decomposition& decomposition, const LineBoxes& boxes,
                  const LinePlan& plan, int components, Exchange& exchange);

  /// What it needs on one rank. Local.
  static MemoryNeed memory(const Decomposition& decomposition, const LineBoxes& boxes, const LinePlan& plan,
                           int components);

  /// From `home` to the array of whole lines that it returns. Collective over the column.
  LineArray forward(const LineArray& home, int planes);
  /// Back, from that array. Collective over the column.
  void backward(const LineArray& home, int planes);

 private:
  std::unique_ptr<Transpose<real>> transpose_;
  LineArray whole_;
};

/// The strategies tiles, condensed and two_passes_on_chip. A CPU build does not define it.
template <class Lines>
std::unique_ptr<LineSolver<Lines>> make_gpu_line_solver(const Communicator& comm, const Decomposition& decomposition,
                                                        const LineBoxes& boxes, const LinePlan& plan,
                                                        Exchange& exchange);

}  // namespace sluice
