#pragma once
// GPU kernels that solve lines in two passes over memory: those of tridiagonal_kernels.hpp for streamed rows, for packs
// of reduced systems, and for blocks in shared memory. Plain code, which also runs on the host.
#include "core/device/copy_ahead.hpp"
#include "poisson/tridiagonal/chains.hpp"
#include "poisson/tridiagonal/near_block.hpp"
#include "poisson/tridiagonal/tridiagonal_kernels.hpp"

namespace sluice {

/// The shape of block `block`, counted from `first_block`.
template <class Shape>
SLUICE_INLINE Shape shape_of_block(const BlockBounds& blocks, int first_block, int block) {
  Shape shape;
  shape.first = blocks.bounds[first_block + block];
  shape.rows = blocks.bounds[first_block + block + 1] - shape.first;
  return shape;
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
    const int first_row = bounds[block];
    const int last_row = bounds[block + 1] - 1;
    const real* source = d.at(lane, j, first_row - bounds[0]);
    const real* d_last = source + (last_row - first_row) * d.stride_z;
    LanePack<Lanes> first = pack_at<Lanes>(source);
    LanePack<Lanes> last = pack_at<Lanes>(d_last);
    StreamedChain<Lines, Lanes> inside{{lines, lane / Lines::components, j, std::integral_constant<int, Lanes>{}},
                                       first_row + 1,
                                       last_row - first_row - 1,
                                       source + d.stride_z,
                                       d.stride_z};
    const Eliminated<Lanes> sums = eliminate<Lanes>(inside, std::integral_constant<int, Lanes>{});
    const double upper = lines.upper[first_row];
    const double lower = lines.lower[last_row];
    SLUICE_UNROLL
    for (int r = 0; r < Lanes; ++r) {
      first[r] = static_cast<real>(sums.below(r, upper, first[r]));
      last[r] = static_cast<real>(sums.above(r, lower, last[r]));
    }
    if constexpr (Lines::components == 2) {
      if (is_singular_line(lines, lane, j))
        first.lane[1] = static_cast<real>(moment_of_block(lines, first_row, last_row + 1, source, d.stride_z));
    }
    pack_at<Lanes>(boundary.at(lane, j, 2 * block)) = first;
    pack_at<Lanes>(boundary.at(lane, j, 2 * block + 1)) = last;
  }
};

/// SolveReduced; `g` is the thread's storage for 2 N x `Lanes` intermediate values.
template <class Lines, int Lanes>
struct SolveReducedOnChip {
  Lines lines;
  LineArray values;

  SLUICE_INLINE void operator()(int lane, int j, double* g, std::ptrdiff_t g_pitch) const {
    real* first = values.at(lane, j, 0);
    const bool singular = is_singular_line(lines, lane, j);
    const double mean = singular ? take_mean(lines.blocks.count, first, values.stride_z) : 0;
    ReducedChain<Lanes> chain{
        lines, reduced_column(lines, lane / Lines::components, j), false, first, values.stride_z, g, g_pitch};
    solve_between<double, Lanes>(chain, std::integral_constant<int, Lanes>{}, Zeros{}, Zeros{});
    if (singular) subtract_mean(mean, lines.blocks.count, first, values.stride_z);
  }
};

/// The reduced chain of a rank's blocks between their lowest and highest boundary values.
template <int Lanes, class Lines>
SLUICE_INLINE ReducedChain<Lanes> chain_of_rank(const Lines& lines, int lane, int j, const LineArray& values, double* g,
                                                std::ptrdiff_t g_pitch) {
  return {lines,  reduced_column(lines, lane / Lines::components, j), true, values.at(lane, j, 0), values.stride_z, g,
          g_pitch};
}

/// If z is split: condenses a rank's blocks to one. Eliminates all boundary values but the lowest and the highest, and
/// writes the right-hand sides of the two remaining equations to `ends`. `lines` has the rank's blocks only, their ends
/// known. The singular line's shares of the mean are summed to one value.
template <class Lines, int Lanes>
struct CondenseBlocks {
  Lines lines;
  LineArray values;
  LineArray ends;

  SLUICE_INLINE void operator()(int lane, int j, double* g, std::ptrdiff_t g_pitch) const {
    const int count = lines.blocks.count;
    real* lowest = values.at(lane, j, 0);
    const bool singular = is_singular_line(lines, lane, j);
    const double mean = singular ? take_mean(count, lowest, values.stride_z) : 0;
    const ReducedColumn column = reduced_column(lines, lane / Lines::components, j);
    LanePack<Lanes> first = pack_at<Lanes>(lowest);
    LanePack<Lanes> last = pack_at<Lanes>(lowest + (2 * count - 1) * values.stride_z);
    if (count > 1) {
      ReducedChain<Lanes> chain = chain_of_rank<Lanes>(lines, lane, j, values, g, g_pitch);
      const Eliminated<Lanes> sums = eliminate<Lanes>(chain, std::integral_constant<int, Lanes>{});
      const double upper = column.at(coupling, 0);
      const double lower = lines.symmetry[count - 1] * column.at(coupling, count - 1);
      SLUICE_UNROLL
      for (int r = 0; r < Lanes; ++r) {
        first[r] = static_cast<real>(sums.below(r, upper, first[r]));
        last[r] = static_cast<real>(sums.above(r, lower, last[r]));
      }
    }
    if constexpr (Lines::components == 2) {
      if (singular) first[1] = static_cast<real>(mean);
    }
    pack_at<Lanes>(ends.at(lane, j, 0)) = first;
    pack_at<Lanes>(ends.at(lane, j, 1)) = last;
  }
};

/// Expands the solution in `ends` to the boundary values of all of the rank's blocks.
template <class Lines, int Lanes>
struct ExpandBlocks {
  Lines lines;
  LineArray values;
  LineArray ends;

  SLUICE_INLINE void operator()(int lane, int j, double* g, std::ptrdiff_t g_pitch) const {
    const LanePack<Lanes> first = pack_at<Lanes>(ends.at(lane, j, 0));
    const LanePack<Lanes> last = pack_at<Lanes>(ends.at(lane, j, 1));
    ReducedChain<Lanes> chain = chain_of_rank<Lanes>(lines, lane, j, values, g, g_pitch);
    solve_between<double, Lanes>(chain, std::integral_constant<int, Lanes>{}, first, last);
    pack_at<Lanes>(values.at(lane, j, 0)) = first;
    pack_at<Lanes>(values.at(lane, j, 2 * lines.blocks.count - 1)) = last;
  }
};

/// SolveInterior. A thread block solves one z block of neighbouring packs of `Lanes` real numbers in shared memory:
/// each thread has a column for its rows, and all share a table of the matrix.
template <class Lines, int Lanes, class Shape>
struct SolveInteriorOnChip {
  static constexpr int table_pitch = Shape::inside + 2;
  /// Doubles in the table, such that what follows it begins at a multiple of 16 bytes.
  static constexpr int table_size = (BlockTable<Lines>::columns * table_pitch + 1) / 2 * 2;
  using Pack = LanePack<Lanes>;

  Lines lines;
  LineArray x;
  LineArray boundary;
  int first_block;

  static constexpr std::size_t shared_bytes(int threads) {
    return table_size * sizeof(double) + static_cast<std::size_t>(Shape::inside * threads) * sizeof(Pack);
  }

  /// Loads one thread's part of the table. A barrier must follow before the table is used.
  SLUICE_INLINE void bring_table(int block, int thread, int threads, double* table) const {
    const Shape shape = shape_of_block<Shape>(lines.blocks, first_block, block);
    for (int n = thread; n < table_size; n += threads) {
      const int column = n / table_pitch;
      const int row = n - column * table_pitch;
      if (column < BlockTable<Lines>::columns && row < shape.rows)
        table[n] = BlockTable<Lines>::entry(lines, column, shape.first + row);
    }
  }

  /// Starts to copy the rows inside the block to `rows`, `pitch` real numbers apart.
  SLUICE_INLINE void bring_rows(int lane, int j, int block, real* rows, int pitch) const {
    const Shape shape = shape_of_block<Shape>(lines.blocks, first_block, block);
    const real* from = at_first(shape, lane, j);
    SLUICE_UNROLL
    for (int m = 0; m < Shape::inside; ++m) {
      if (shape.has(m)) copy_ahead<sizeof(Pack)>(rows + m * pitch, from + (m + 1) * x.stride_z);
    }
  }

  /// Waits for the copies and solves.
  SLUICE_INLINE void solve(int lane, int j, int block, const double* table, real* rows, int pitch) const {
    const Shape shape = shape_of_block<Shape>(lines.blocks, first_block, block);
    const BlockTable<Lines> near(table, table_pitch);
    const Pack first = pack_at<Lanes>(boundary.at(lane, j, 2 * block));
    const Pack last = pack_at<Lanes>(boundary.at(lane, j, 2 * block + 1));
    NearPivots<Lines, Shape> pivots;
    pivots.set_shift(lines.shift(lane / Lines::components, j));
    pivots.find_all(near, shape);
    wait_for_copies();
    real* const to = at_first(shape, lane, j);
    const std::ptrdiff_t stride = x.stride_z;
    const auto store = [=](int m, const Pack& pack) { pack_at<Lanes>(to + (m + 1) * stride) = pack; };
    NearChain<Lanes, Lines, Shape, decltype(store)> inside{near, shape, pivots, rows, pitch, store};
    solve_between<real, Lanes>(inside, std::integral_constant<int, Lanes>{}, first, last);
    pack_at<Lanes>(to) = first;
    pack_at<Lanes>(to + (shape.rows - 1) * stride) = last;
  }

 private:
  SLUICE_INLINE real* at_first(const Shape& shape, int lane, int j) const {
    return x.at(lane, j, shape.first - lines.blocks.bounds[first_block]);
  }
};

}  // namespace sluice
