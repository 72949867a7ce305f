#pragma once
// GPU kernels that solve lines in two passes over memory: for blocks in shared memory, and for packs of reduced
// systems. Plain code, which also runs on the host.
#include "core/device/copy_ahead.hpp"
#include "poisson/tridiagonal/near_block.hpp"

namespace sluice {

/// What a thread block does with one z block of neighbouring packs of `Lanes` real numbers, which it holds in shared
/// memory: each thread has a column for its rows, and all share a table of the matrix. `lines` has the rank's blocks
/// only; d and x are the same array.
template <class Lines, int Lanes, class Shape>
struct BlocksOnChip {
  static constexpr int table_pitch = Shape::inside + 2;
  /// Doubles in the table, such that what follows it begins at a multiple of 16 bytes.
  static constexpr int table_size = (Lines::columns * table_pitch + 1) / 2 * 2;
  using Pack = LanePack<Lanes>;
  using Count = std::integral_constant<int, Lanes>;

  Lines lines;
  LineArray x;
  LineArray boundary;  ///< planes 2 n and 2 n + 1 for block n

  static constexpr std::size_t shared_bytes(int threads) {
    return table_size * sizeof(double) + static_cast<std::size_t>(Shape::inside * threads) * sizeof(Pack);
  }

  /// Starts to copy the rows inside the block to `rows`, `pitch` real numbers apart.
  SLUICE_INLINE void load_rows(int lane, int j, int block, real* rows, int pitch) const {
    const Shape shape = shape_of(block);
    const real* from = at_first(shape, lane, j);
    SLUICE_UNROLL
    for (int m = 0; m < Shape::inside; ++m) {
      if (shape.has(m)) copy_ahead<sizeof(Pack)>(rows + m * pitch, from + (m + 1) * x.stride_z);
    }
  }

  /// Loads one thread's part of the table. A barrier must follow before the table is used.
  SLUICE_INLINE void load_table(int block, int thread, int threads, double* table) const {
    NearTable{table, table_pitch}.load(lines, shape_of(block), thread, threads);
  }

  /// First pass: waits for the copies and writes the right-hand sides of the block's boundary equations.
  SLUICE_INLINE void form_boundary(int lane, int j, int block, double* table, real* rows, int pitch) const {
    const Shape shape = shape_of(block);
    const NearTable near{table, table_pitch};
    const real* const d = at_first(shape, lane, j);
    Pack first = pack_at<Lanes>(d);
    Pack last = pack_at<Lanes>(d + (shape.rows - 1) * x.stride_z);
    NearPivots<Lines, Shape> pivots = pivots_of(lane, j);
    if constexpr (NearPivots<Lines, Shape>::ahead) pivots.find_all(near, shape);
    wait_for_copies();
    NearChain<Lanes, Lines, Shape, NoStore> inside{near, shape, pivots, rows, pitch, {}};
    const Eliminated<Lanes> sums = eliminate<Lanes>(inside, Count());
    SLUICE_UNROLL
    for (int r = 0; r < Lanes; ++r) {
      first[r] = static_cast<real>(sums.below(r, near.upper(0), first[r]));
      last[r] = static_cast<real>(sums.above(r, near.lower(shape.rows - 1), last[r]));
    }
    if constexpr (Lines::components == 2) {
      if (is_singular_line(lines, lane, j))
        first[1] = static_cast<real>(moment_of_block(lines, shape.first, shape.last() + 1, d, x.stride_z));
    }
    pack_at<Lanes>(boundary.at(lane, j, 2 * block)) = first;
    pack_at<Lanes>(boundary.at(lane, j, 2 * block + 1)) = last;
  }

  /// Second pass: waits for the copies and solves the block between its boundary values.
  SLUICE_INLINE void solve_interior(int lane, int j, int block, double* table, real* rows, int pitch) const {
    const Shape shape = shape_of(block);
    const NearTable near{table, table_pitch};
    const Pack first = pack_at<Lanes>(boundary.at(lane, j, 2 * block));
    const Pack last = pack_at<Lanes>(boundary.at(lane, j, 2 * block + 1));
    NearPivots<Lines, Shape> pivots = pivots_of(lane, j);
    pivots.find_all(near, shape);
    wait_for_copies();
    real* const to = at_first(shape, lane, j);
    const std::ptrdiff_t stride = x.stride_z;
    const auto store = [=](int m, const Pack& pack) { pack_at<Lanes>(to + (m + 1) * stride) = pack; };
    NearChain<Lanes, Lines, Shape, decltype(store)> inside{near, shape, pivots, rows, pitch, store};
    solve_between<real, Lanes>(inside, Count(), first, last);
    pack_at<Lanes>(to) = first;
    pack_at<Lanes>(to + (shape.rows - 1) * stride) = last;
  }

 private:
  SLUICE_INLINE Shape shape_of(int block) const {
    Shape shape;
    shape.first = lines.blocks.bounds[block];
    shape.rows = lines.blocks.bounds[block + 1] - shape.first;
    return shape;
  }
  SLUICE_INLINE real* at_first(const Shape& shape, int lane, int j) const {
    return x.at(lane, j, shape.first - lines.blocks.bounds[0]);
  }
  SLUICE_INLINE NearPivots<Lines, Shape> pivots_of(int lane, int j) const {
    NearPivots<Lines, Shape> pivots;
    pivots.set_shift(lines.shift(lane / Lines::components, j));
    return pivots;
  }
};

/// Coefficients of a few blocks of a line's reduced system, read together so that the reads overlap.
struct ReducedGroup {
  static constexpr int blocks = 4;

  double of_first[blocks] = {}, of_last[blocks] = {}, across[blocks] = {};
  double lower[blocks] = {}, upper[blocks] = {}, back[blocks] = {};

  template <class Lines>
  SLUICE_INLINE ReducedGroup(const Lines& lines, int i, int j, int start) {
    SLUICE_UNROLL
    for (int n = 0; n < blocks; ++n) {
      const int block = start + n;
      if (block >= lines.blocks.count) continue;
      of_first[n] = lines.reduced_at(inverse_of_first, block, i, j);
      of_last[n] = lines.reduced_at(inverse_of_last, block, i, j);
      across[n] = lines.reduced_at(coupling, block, i, j);
      lower[n] = lines.lower[lines.blocks.bounds[block]];
      upper[n] = lines.upper[lines.blocks.bounds[block + 1] - 1];
      back[n] = lines.symmetry[block] * across[n];
    }
  }
  /// Coefficients of row m of the group.
  SLUICE_INLINE ChainRow row(int m) const {
    const int n = m / 2;
    return m % 2 == 0 ? ChainRow{lower[n], across[n], of_first[n]} : ChainRow{back[n], upper[n], of_last[n]};
  }
};

/// The reduced system of the pack of lines that begins at (lane, j); with `ends_known`, without the lowest and highest
/// unknown. `g` stores the thread's intermediate values.
template <class Lines, int Lanes>
struct ReducedChain {
  static constexpr int in_group = 2 * ReducedGroup::blocks;

  const Lines& lines;
  int lane, j;
  bool ends_known;
  real* values;
  std::ptrdiff_t pitch;
  double* g;
  std::ptrdiff_t g_pitch;

  template <class Action>
  SLUICE_INLINE void up(const Action& action) {
    double weight = 1;
    solve_up([&](const auto& d, ChainRow c, auto&& /*kept*/) {
      c.of_weight = weight;
      action(d, c);
      weight *= -c.of_upper * c.of_inverse;
    });
  }
  template <class Action>
  SLUICE_INLINE void solve_up(const Action& action) {
    for (int start = 0; start < lines.blocks.count; start += ReducedGroup::blocks) {
      LanePack<Lanes> rhs[in_group] = {};
      SLUICE_UNROLL
      for (int m = 0; m < in_group; ++m) {
        if (2 * start + m < 2 * lines.blocks.count) rhs[m] = pack_at<Lanes>(values + (2 * start + m) * pitch);
      }
      const ReducedGroup group(lines, lane / Lines::components, j, start);
      SLUICE_UNROLL
      for (int m = 0; m < in_group; ++m) {
        if (has(2 * start + m)) action(rhs[m], group.row(m), g + (2 * start + m) * g_pitch);
      }
    }
  }
  template <class Action>
  SLUICE_INLINE void down(const Action& action) {
    constexpr int blocks = ReducedGroup::blocks;
    for (int start = (lines.blocks.count - 1) / blocks * blocks; start >= 0; start -= blocks) {
      const ReducedGroup group(lines, lane / Lines::components, j, start);
      LanePack<Lanes> solution[in_group] = {};
      SLUICE_UNROLL
      for (int m = in_group - 1; m >= 0; --m) {
        if (has(2 * start + m)) action(g + (2 * start + m) * g_pitch, group.row(m), solution[m]);
      }
      SLUICE_UNROLL
      for (int m = 0; m < in_group; ++m) {
        if (has(2 * start + m)) pack_at<Lanes>(values + (2 * start + m) * pitch) = solution[m];
      }
    }
  }

 private:
  SLUICE_INLINE bool has(int m) const {
    const int end = 2 * lines.blocks.count;
    return ends_known ? m > 0 && m + 1 < end : m < end;
  }
};

/// Solves the systems of block-boundary values, in place; `g` is the thread's storage for 2 N x `Lanes` intermediate
/// values.
template <class Lines, int Lanes>
struct SolveReduced {
  Lines lines;
  LineArray values;

  SLUICE_INLINE void operator()(int lane, int j, double* g, std::ptrdiff_t g_pitch) const {
    real* first = values.at(lane, j, 0);
    const bool singular = is_singular_line(lines, lane, j);
    const double mean = singular ? take_mean(lines.blocks.count, first, values.stride_z) : 0;
    ReducedChain<Lines, Lanes> chain{lines, lane, j, false, first, values.stride_z, g, g_pitch};
    solve_between<double, Lanes>(chain, std::integral_constant<int, Lanes>{}, Zeros{}, Zeros{});
    if (singular) subtract_mean(mean, lines.blocks.count, first, values.stride_z);
  }
};

/// Condenses a rank's blocks to one. Eliminates all boundary values but the lowest and the highest, and writes the
/// right-hand sides of the two remaining equations to `ends`. `lines` has the rank's blocks only, their ends known. The
/// singular line's shares of the mean are summed to one value.
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
    LanePack<Lanes> first = pack_at<Lanes>(lowest);
    LanePack<Lanes> last = pack_at<Lanes>(lowest + (2 * count - 1) * values.stride_z);
    if (count > 1) {
      ReducedChain<Lines, Lanes> chain{lines, lane, j, true, lowest, values.stride_z, g, g_pitch};
      const Eliminated<Lanes> sums = eliminate<Lanes>(chain, std::integral_constant<int, Lanes>{});
      const int i = lane / Lines::components;
      const double upper = lines.reduced_at(coupling, 0, i, j);
      const double lower = lines.symmetry[count - 1] * lines.reduced_at(coupling, count - 1, i, j);
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
    ReducedChain<Lines, Lanes> chain{lines, lane, j, true, values.at(lane, j, 0), values.stride_z, g, g_pitch};
    solve_between<double, Lanes>(chain, std::integral_constant<int, Lanes>{}, first, last);
    pack_at<Lanes>(values.at(lane, j, 0)) = first;
    pack_at<Lanes>(values.at(lane, j, 2 * lines.blocks.count - 1)) = last;
  }
};

}  // namespace sluice
