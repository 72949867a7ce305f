#pragma once
// What threads of a GPU do that solve lines in two passes over memory: the kernels of tridiagonal_kernels.hpp with the
// sweeps of block_sweeps.hpp and tile_sweeps.hpp. Plain code, which the host can run too, thread after thread.
#include "core/device/copy_ahead.hpp"
#include "poisson/tridiagonal/block_sweeps.hpp"
#include "poisson/tridiagonal/tile_sweeps.hpp"
#include "poisson/tridiagonal/tridiagonal_kernels.hpp"

namespace sluice {

/// Local block `block` of the blocks from `first_block` on.
template <class Shape>
SLUICE_INLINE Shape shape_of_block(const BlockBounds& blocks, int first_block, int block) {
  Shape shape;
  shape.first = blocks.bounds[first_block + block];
  shape.rows = blocks.bounds[first_block + block + 1] - shape.first;
  return shape;
}

template <class Lines>
SLUICE_INLINE bool is_singular_line(const Lines& lines, int lane, int j) {
  return lines.holds_singular_line && j == 0 && lane == 0;
}

SLUICE_INLINE ReducedColumn reduced_column(const ShiftedLines& lines, int i, int j) {
  return {lines.reduced + static_cast<std::ptrdiff_t>(j) * lines.lines_in_row + i, lines.lines};
}
SLUICE_INLINE ReducedColumn reduced_column(const TableLines& lines, int /*i*/, int /*j*/) {
  return {lines.reduced, 1};
}

/// FormBoundary for `Lanes` real numbers of a row: one complex line, or neighbouring real ones. Blocks of any length.
template <class Lines, int Lanes>
struct FormBoundaryInTurns {
  Lines lines;
  LineArray d;
  LineArray boundary;
  int first_block;

  SLUICE_INLINE void operator()(int lane, int j, int block) const {
    const int* bounds = lines.blocks.bounds + first_block;
    const RowRange rows{bounds[block], bounds[block + 1] - bounds[block]};
    const real* source = d.at(lane, j, rows.first - bounds[0]);
    LanePack<Lanes> first, last;
    form_boundary_in_turns<Lanes>(lines, RunningPivot<Lines>(lines, lane / Lines::components, j), rows, source,
                                  d.stride_z, first, last);
    if constexpr (Lines::components == 2) {
      if (is_singular_line(lines, lane, j))
        first.lane[1] =
            static_cast<real>(moment_of_block(lines, rows.first, rows.first + rows.count, source, d.stride_z));
    }
    pack_at<Lanes>(boundary.at(lane, j, 2 * block)) = first;
    pack_at<Lanes>(boundary.at(lane, j, 2 * block + 1)) = last;
  }
};

/// SolveReduced; `g` is the thread's room for 2 N x `Lanes` intermediate values.
template <class Lines, int Lanes>
struct SolveReducedOnChip {
  Lines lines;
  LineArray values;

  SLUICE_INLINE void operator()(int lane, int j, double* g, std::ptrdiff_t g_pitch) const {
    real* first = values.at(lane, j, 0);
    const bool singular = is_singular_line(lines, lane, j);
    const double mean = singular ? take_mean(lines.blocks.count, first, values.stride_z) : 0;
    const ReducedColumn column = reduced_column(lines, lane / Lines::components, j);
    sweep_reduced_up<Lanes>(lines, column, first, values.stride_z, g, g_pitch);
    sweep_reduced_down<Lanes>(lines, column, g, g_pitch, first, values.stride_z);
    if (singular) subtract_mean(mean, lines.blocks.count, first, values.stride_z);
  }
};

/// Where z is split: the two equations that are left of a rank's blocks go to `ends`. `lines` has the rank's blocks
/// only, their ends known. The singular line's shares of the mean travel on as one.
template <class Lines, int Lanes>
struct CondenseBlocks {
  Lines lines;
  LineArray values;
  LineArray ends;

  SLUICE_INLINE void operator()(int lane, int j, double* /*g*/, std::ptrdiff_t /*g_pitch*/) const {
    real* lowest = values.at(lane, j, 0);
    const bool singular = is_singular_line(lines, lane, j);
    const double mean = singular ? take_mean(lines.blocks.count, lowest, values.stride_z) : 0;
    LanePack<Lanes> first, last;
    condense(lines, reduced_column(lines, lane / Lines::components, j), lowest, values.stride_z, first, last);
    if constexpr (Lines::components == 2) {
      if (singular) first.lane[1] = static_cast<real>(mean);
    }
    pack_at<Lanes>(ends.at(lane, j, 0)) = first;
    pack_at<Lanes>(ends.at(lane, j, 1)) = last;
  }
};

/// The way back: boundary values of all of the rank's blocks from the solution in `ends`.
template <class Lines, int Lanes>
struct ExpandBlocks {
  Lines lines;
  LineArray values;
  LineArray ends;

  SLUICE_INLINE void operator()(int lane, int j, double* g, std::ptrdiff_t g_pitch) const {
    expand(lines, reduced_column(lines, lane / Lines::components, j), pack_at<Lanes>(ends.at(lane, j, 0)),
           pack_at<Lanes>(ends.at(lane, j, 1)), values.at(lane, j, 0), values.stride_z, g, g_pitch);
  }
};

/// SolveInterior. A block of threads solves one z block of neighbouring packs of `Lanes` real numbers, the rows in
/// shared memory; each thread has a column of it for its own rows, and all share a table of the matrix.
template <class Lines, int Lanes, class Shape>
struct SolveInteriorOnChip {
  static constexpr int table_pitch = Shape::inside + 2;
  /// Doubles of the table: what follows it begins at a multiple of 16 bytes.
  static constexpr int table_size = (BlockTable<Lines>::columns * table_pitch + 1) / 2 * 2;
  using Pack = LanePack<Lanes>;

  Lines lines;
  LineArray x;
  LineArray boundary;
  int first_block;

  static constexpr std::size_t shared_bytes(int threads) {
    return table_size * sizeof(double) + static_cast<std::size_t>(Shape::inside * threads) * sizeof(Pack);
  }

  /// What one of the threads brings of the table; they meet before it is used.
  SLUICE_INLINE void bring_table(int block, int thread, int threads, double* table) const {
    const Shape shape = shape_of_block<Shape>(lines.blocks, first_block, block);
    for (int n = thread; n < table_size; n += threads) {
      const int column = n / table_pitch;
      const int row = n - column * table_pitch;
      if (column < BlockTable<Lines>::columns && row < shape.rows)
        table[n] = BlockTable<Lines>::entry(lines, column, shape.first + row);
    }
  }

  /// Begins to bring the rows inside the block: `pitch` real numbers apart, from `rows` on.
  SLUICE_INLINE void bring_rows(int lane, int j, int block, real* rows, int pitch) const {
    const Shape shape = shape_of_block<Shape>(lines.blocks, first_block, block);
    const real* from = at_first(shape, lane, j);
    SLUICE_UNROLL
    for (int m = 0; m < Shape::inside; ++m) {
      if (shape.has(m)) copy_ahead<sizeof(Pack)>(rows + m * pitch, from + (m + 1) * x.stride_z);
    }
  }

  /// Waits for them and solves.
  SLUICE_INLINE void solve(int lane, int j, int block, const double* table, real* rows, int pitch) const {
    const Shape shape = shape_of_block<Shape>(lines.blocks, first_block, block);
    const BlockTable<Lines> near(table, table_pitch);
    const Pack first = pack_at<Lanes>(boundary.at(lane, j, 2 * block));
    const Pack last = pack_at<Lanes>(boundary.at(lane, j, 2 * block + 1));
    TilePivots<Lines, Shape> pivots;
    pivots.set_shift(shift_of_line(lines, lane / Lines::components, j));
    pivots.find_all(near, shape);
    wait_for_copies();
    real* const to = at_first(shape, lane, j);
    const std::ptrdiff_t stride = x.stride_z;
    solve_block<Lanes>(near, shape, pivots, rows, pitch, first, last,
                       [=](int m, const Pack& pack) { pack_at<Lanes>(to + (m + 1) * stride) = pack; });
    pack_at<Lanes>(to) = first;
    pack_at<Lanes>(to + (shape.rows - 1) * stride) = last;
  }

 private:
  SLUICE_INLINE real* at_first(const Shape& shape, int lane, int j) const {
    return x.at(lane, j, shape.first - lines.blocks.bounds[first_block]);
  }
};

}  // namespace sluice
