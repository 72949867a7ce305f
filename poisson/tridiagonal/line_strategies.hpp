#pragma once
// What the strategies of LineSolver share.
#include <memory>

#include "core/decomp/transpose.hpp"
#include "core/device/buffer.hpp"
#include "poisson/tridiagonal/line_solver.hpp"

namespace sluice {

/// Boundary values of blocks, two planes per block, without gaps. `lines`: the rank's box, in lines; its planes are
/// ignored.
class BoundaryValues {
 public:
  BoundaryValues(const Box3& lines, int components, int blocks) : data_(size(lines, components, blocks)) {
    const std::int64_t row = lines.extent(0) * components;
    array_ = {data_.data(), row, row * lines.extent(1), static_cast<int>(row), lines.ny()};
  }
  static double memory(const Box3& lines, int components, int blocks) {
    return static_cast<double>(size(lines, components, blocks) * sizeof(real));
  }
  const LineArray& array() const { return array_; }
  /// The values from this block on.
  LineArray of(int block) const {
    LineArray rest = array_;
    rest.origin = array_.at(0, 0, 2 * block);
    return rest;
  }

 private:
  static std::size_t size(const Box3& lines, int components, int blocks) {
    return static_cast<std::size_t>(lines.extent(0) * lines.extent(1) * components * 2 * blocks);
  }

  Buffer<real> data_;
  LineArray array_;
};

/// Number of blocks whose boundary values a rank holds. split_tiles: 2, because its rows count as one block, for which
/// it holds its own and the final values. condensed: the block to which it condenses its blocks, and these blocks
/// themselves unless it has only one. Other strategies: its blocks.
int boundary_blocks(const LinePlan& plan);

/// Bytes of the arrays that a plan's strategy holds, without those of its ColumnTranspose.
double strategy_memory(const LineBoxes& boxes, const LinePlan& plan, int components);

/// Makes the lines of a process column whole, and splits them again. Does nothing if z is not split.
class ColumnTranspose {
 public:
  ColumnTranspose(const Communicator& comm, const LineBoxes& boxes, const LinePlan& plan, int components,
                  Exchange& exchange);

  /// Moves `home` to the returned array of whole lines. Collective over the column.
  LineArray forward(const LineArray& home);
  /// Moves that array back to `home`. Collective over the column.
  void backward(const LineArray& home);

 private:
  View3<real> view_of(const LineArray& home) const;

  int planes_ = 0;  ///< of `home`
  std::unique_ptr<Transpose<real>> transpose_;
  LineArray whole_;
};

}  // namespace sluice
