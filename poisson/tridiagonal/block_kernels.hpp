#pragma once
// GPU kernels that solve lines in two passes over memory: for blocks in shared memory, and for packs of reduced
// systems. Plain code, which also runs on the host.
#include "core/device/copy_ahead.hpp"
#include "poisson/tridiagonal/bundle_chain.hpp"
#include "poisson/tridiagonal/near_block.hpp"
#include "poisson/tridiagonal/reduced_system.hpp"

namespace sluice {

/// A rank's blocks of lines, which are solved in two passes. Shared by all threads.
template <class Lines>
struct LineBlocks {
  Lines lines;  ///< with the rank's blocks only
  LineArray x;
  LineArray boundary;  ///< planes 2 n and 2 n + 1 for block n
};

/// Rows [first, end) of a pack of lines, which are read from memory a few at a time, the next ones before these are
/// used. For chains that are only eliminated. `d` begins with row `first`.
template <class Lines, int Lanes>
struct StreamedChain {
  static constexpr int in_turn = 4;

  Pivots<Lines, Lanes> pivots;
  int first, end;
  LaneRows<real> d;

  template <class Action>
  SLUICE_INLINE void up(const Action& action) {
    LanePack<Lanes> next[in_turn] = {};
    read(first, next);
    for (int start = first; start < end; start += in_turn) {
      LanePack<Lanes> now[in_turn];
      SLUICE_UNROLL
      for (int n = 0; n < in_turn; ++n) now[n] = next[n];
      read(start + in_turn, next);
      SLUICE_UNROLL
      for (int n = 0; n < in_turn; ++n) {
        if (start + n >= end) continue;
        pivots.advance(start + n == first, start + n, std::integral_constant<int, Lanes>{});
        action(now[n], pivots);
      }
    }
  }

 private:
  SLUICE_INLINE void read(int start, LanePack<Lanes> (&rows)[in_turn]) const {
    SLUICE_UNROLL
    for (int n = 0; n < in_turn; ++n) {
      if (start + n < end) rows[n] = pack_at<Lanes>(d.row(start + n - first));
    }
  }
};

/// First pass: writes the right-hand sides of the boundary equations of a z block, for the pack of lines that begins at
/// (lane, j).
template <class Lines, int Lanes>
SLUICE_INLINE void form_boundary(const LineBlocks<Lines>& blocks, int lane, int j, int block) {
  constexpr std::integral_constant<int, Lanes> n;
  const Lines& lines = blocks.lines;
  const int start = lines.blocks.bounds[block];
  const int end = lines.blocks.bounds[block + 1];
  const LaneRows<real> rows = blocks.x.from(lane, j, start - lines.blocks.bounds[0]);
  LanePack<Lanes> first = pack_at<Lanes>(rows.row(0));
  LanePack<Lanes> last = pack_at<Lanes>(rows.row(end - 1 - start));
  StreamedChain<Lines, Lanes> chain{{lines, lane / Lines::components, j, n}, start + 1, end - 1, rows.from(1)};
  const Eliminated<Lanes> sums = eliminate<Lanes>(chain, n);
  SLUICE_UNROLL
  for (int r = 0; r < Lanes; ++r) {
    first[r] = static_cast<real>(sums.below(r, lines.upper[start], first[r]));
    last[r] = static_cast<real>(sums.above(r, lines.lower[end - 1], last[r]));
  }
  if constexpr (Lines::components == 2) {
    if (is_singular_line(lines, lane, j)) first[1] = static_cast<real>(moment_of_block(lines, start, end, rows));
  }
  pack_at<Lanes>(blocks.boundary.at(lane, j, 2 * block)) = first;
  pack_at<Lanes>(blocks.boundary.at(lane, j, 2 * block + 1)) = last;
}

/// Second pass: one thread's part of what a thread block does with one z block of neighbouring packs of `Lanes` real
/// numbers. Each thread has a column of shared memory for its rows, and all share a table of the matrix. Its steps are
/// load_table() and load_rows(), then, after a barrier, solve_interior().
template <class Lines, int Lanes, class Shape>
class BlockOnChip {
 public:
  static constexpr std::size_t shared_bytes(int threads) {
    return table_size * sizeof(double) + static_cast<std::size_t>(Shape::inside * threads) * sizeof(Pack);
  }

  /// For the pack that begins at (lane, j), and `thread` of `threads`. `shared`: aligned to 16 bytes.
  SLUICE_INLINE BlockOnChip(const LineBlocks<Lines>& blocks, int lane, int j, int block, double* shared, int thread,
                            int threads)
      : blocks_(blocks),
        lane_(lane),
        j_(j),
        block_(block),
        thread_(thread),
        threads_(threads),
        rows_(shared, table_pitch, Shape::of_block(blocks.lines.blocks, block)),
        inside_(reinterpret_cast<real*>(shared + table_size) + thread * Lanes),
        x_(blocks.x.at(lane, j, rows_.shape.first - blocks.lines.blocks.bounds[0])) {}

  /// Starts to copy the thread's rows inside the block.
  SLUICE_INLINE void load_rows() const {
    copy_several_ahead<sizeof(Pack), Shape::inside>([&](int m) { return rows_.shape.has(m); },
                                                    [&](int m) { return x_ + (m + 1) * blocks_.x.stride_z; },
                                                    [&](int m) { return inside_ + m * pitch(); });
  }

  /// Loads the thread's part of the table.
  SLUICE_INLINE void load_table() const { rows_.load(blocks_.lines, thread_, threads_); }

  /// Solves the block between its boundary values.
  SLUICE_INLINE void solve_interior() {
    const Pack first = pack_at<Lanes>(boundary(0));
    const Pack last = pack_at<Lanes>(boundary(1));
    rows_.set_shift(blocks_.lines.shift(lane_ / Lines::components, j_));
    rows_.find_pivots();
    wait_for_copies();
    real* const to = x_;
    const std::ptrdiff_t stride = blocks_.x.stride_z;
    const auto store = [=](int m, const Pack& pack) { pack_at<Lanes>(to + (m + 1) * stride) = pack; };
    NearChain<Lanes, Lines, Shape, decltype(store)> chain{rows_, inside_, pitch(), store};
    solve_between<real, Lanes>(chain, std::integral_constant<int, Lanes>{}, first, last);
    pack_at<Lanes>(to) = first;
    pack_at<Lanes>(to + (rows_.shape.rows - 1) * stride) = last;
  }

 private:
  using Pack = LanePack<Lanes>;
  static constexpr int table_pitch = Shape::inside + 2;
  /// Doubles in the table, such that what follows it begins at a multiple of 16 bytes.
  static constexpr int table_size = (Lines::columns * table_pitch + 1) / 2 * 2;

  SLUICE_INLINE int pitch() const { return threads_ * Lanes; }
  SLUICE_INLINE real* boundary(int which) const { return blocks_.boundary.at(lane_, j_, 2 * block_ + which); }

  const LineBlocks<Lines>& blocks_;
  int lane_, j_, block_, thread_, threads_;
  NearRows<Lines, Shape> rows_;
  real* inside_;  ///< the thread's rows inside the block, pitch() apart
  real* x_;       ///< its first row
};

/// Coefficients of a few blocks of a line's reduced system, read together so that the reads overlap.
struct ReducedGroup {
  static constexpr int blocks = 4;

  BoundaryRows rows[blocks];
  double lower[blocks] = {}, upper[blocks] = {};

  template <class Lines>
  SLUICE_INLINE ReducedGroup(const Lines& lines, int i, int j, int start) {
    SLUICE_UNROLL
    for (int n = 0; n < blocks; ++n) {
      const int block = start + n;
      if (block >= lines.blocks.count) continue;
      rows[n] = boundary_rows(lines, block, i, j);
      lower[n] = lines.lower[lines.blocks.bounds[block]];
      upper[n] = lines.upper[lines.blocks.bounds[block + 1] - 1];
    }
  }
  /// Coefficients of row m of the group.
  SLUICE_INLINE ChainRow row(int m) const {
    const BoundaryRows& block = rows[m / 2];
    return m % 2 == 0 ? ChainRow{lower[m / 2], block.across, block.of_first}
                      : ChainRow{block.back, upper[m / 2], block.of_last};
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
  BlockEnds<real> values;
  LaneRows<double> g;

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
        if (2 * start + m < 2 * lines.blocks.count) rhs[m] = pack_at<Lanes>(values.row(2 * start + m));
      }
      const ReducedGroup group(lines, lane / Lines::components, j, start);
      SLUICE_UNROLL
      for (int m = 0; m < in_group; ++m) {
        if (has(2 * start + m)) action(rhs[m], group.row(m), g.row(2 * start + m));
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
        if (has(2 * start + m)) action(g.row(2 * start + m), group.row(m), solution[m]);
      }
      SLUICE_UNROLL
      for (int m = 0; m < in_group; ++m) {
        if (has(2 * start + m)) pack_at<Lanes>(values.row(2 * start + m)) = solution[m];
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
  int system = 0, systems = 1;  ///< which of those that share `values`

  SLUICE_INLINE void operator()(int lane, int j, LaneRows<double> g) const {
    const BlockEnds<real> rhs = values.block_ends(lane, j, system, systems);
    const bool singular = is_singular_line(lines, lane, j);
    const double mean = singular ? take_mean(lines.blocks.count, rhs) : 0;
    ReducedChain<Lines, Lanes> chain{lines, lane, j, false, rhs, g};
    solve_between<double, Lanes>(chain, std::integral_constant<int, Lanes>{}, Zeros{}, Zeros{});
    if (singular) subtract_mean(mean, lines.blocks.count, rhs);
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

  SLUICE_INLINE void operator()(int lane, int j, LaneRows<double> g) const {
    const int count = lines.blocks.count;
    const BlockEnds<real> rhs = values.block_ends(lane, j);
    const bool singular = is_singular_line(lines, lane, j);
    const double mean = singular ? take_mean(count, rhs) : 0;
    LanePack<Lanes> first = pack_at<Lanes>(rhs.row(0));
    LanePack<Lanes> last = pack_at<Lanes>(rhs.row(2 * count - 1));
    if (count > 1) {
      ReducedChain<Lines, Lanes> chain{lines, lane, j, true, rhs, g};
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

  SLUICE_INLINE void operator()(int lane, int j, LaneRows<double> g) const {
    const LanePack<Lanes> first = pack_at<Lanes>(ends.at(lane, j, 0));
    const LanePack<Lanes> last = pack_at<Lanes>(ends.at(lane, j, 1));
    ReducedChain<Lines, Lanes> chain{lines, lane, j, true, values.block_ends(lane, j), g};
    solve_between<double, Lanes>(chain, std::integral_constant<int, Lanes>{}, first, last);
    pack_at<Lanes>(values.at(lane, j, 0)) = first;
    pack_at<Lanes>(values.at(lane, j, 2 * lines.blocks.count - 1)) = last;
  }
};

}  // namespace sluice
