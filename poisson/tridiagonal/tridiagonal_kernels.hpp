#pragma once
// Loops over bundles of z lines. Each kernel is called with a bundle's number and a plane or block.
#include <algorithm>
#include <type_traits>

#include "core/device/parallel_for.hpp"
#include "poisson/tridiagonal/reduced_system.hpp"
#include "poisson/tridiagonal/tridiagonal_sweeps.hpp"

namespace sluice {

/// Lanes of a bundle: one line for each thread of a GPU; on a CPU enough for long vectors, few enough for the
/// cache.
template <class Lines>
inline constexpr int bundle_lanes = loops_on_gpu ? Lines::components : 64;

/// An array of lines: `count` real numbers in a row, neighbours along x, `rows` of them, planes along z.
struct LineArray {
  real* origin = nullptr;
  std::ptrdiff_t stride_y = 0;
  std::ptrdiff_t stride_z = 0;
  int count = 0;
  int rows = 0;

  SLUICE_INLINE real* at(int r, int j, int k) const { return origin + r + j * stride_y + k * stride_z; }
};

/// The box of parallel_for over all bundles of an array and `depth` blocks. On a CPU, x has length 1: bundles
/// share scratch memory, and the innermost loop of parallel_for promises the compiler independent iterations.
template <class Lines>
Box3 bundle_box(const LineArray& array, int depth) {
  constexpr int lanes = bundle_lanes<Lines>;
  const int in_row = (array.count + lanes - 1) / lanes;
  if constexpr (loops_on_gpu) {
    return box_of(in_row, array.rows, depth);
  } else {
    return box_of(1, static_cast<std::int64_t>(in_row) * array.rows, depth);
  }
}

/// Calls kernel.bundle(first lane, number of lanes, row, k): the number is a constant where the bundle is
/// full.
template <class Lines, class Kernel>
SLUICE_INLINE void for_bundle(const Kernel& kernel, const LineArray& array, int i, int j, int k) {
  constexpr int lanes = bundle_lanes<Lines>;
  if constexpr (loops_on_gpu) {
    kernel.bundle(i * lanes, std::integral_constant<int, lanes>{}, j, k);
  } else {
    const int in_row = (array.count + lanes - 1) / lanes;
    const int first = (j % in_row) * lanes;
    const int left = array.count - first;
    if (left >= lanes) {
      kernel.bundle(first, std::integral_constant<int, lanes>{}, j / in_row, k);
    } else {
      kernel.bundle(first, left, j / in_row, k);
    }
  }
}

/// Sum of moment_k d_k over rows of the singular line's real part: its share of the mean of the solution.
SLUICE_INLINE double moment_of_block(const ShiftedLines& lines, int first, int end, const real* d,
                                     std::ptrdiff_t stride) {
  double sum = 0;
  for (int k = first; k < end; ++k) sum += lines.moment[k] * d[(k - first) * stride];
  return sum;
}

/// The singular line is real, so the place of its imaginary part is free: each block's share of the mean
/// travels there to where the block boundaries are solved for. Lane 1 of `values` belongs to that imaginary
/// part.
SLUICE_INLINE double take_mean(int blocks, real* values, std::ptrdiff_t pitch) {
  double mean = 0;
  for (int block = 0; block < blocks; ++block) {
    mean += values[2 * block * pitch + 1];
    values[2 * block * pitch + 1] = 0;
    values[(2 * block + 1) * pitch + 1] = 0;
  }
  return mean;
}

/// Interior values of the singular line follow its block boundaries, since a constant solves the homogeneous
/// equations.
SLUICE_INLINE void subtract_mean(double mean, int blocks, real* values, std::ptrdiff_t pitch) {
  for (int n = 0; n < 2 * blocks; ++n) values[n * pitch] = static_cast<real>(values[n * pitch] - mean);
}

/// Scratch memory of the loops; in a CPU build one bundle uses it at a time.
struct Scratch {
  double* pivots = nullptr;
  double* rows = nullptr;
  real* boundary = nullptr;
  std::ptrdiff_t pivots_pitch = 0;  ///< in a GPU build: lines of the array times blocks; each thread has a column
};

/// solve_between with the scratch memory that suits the machine.
template <class Lines, class Count>
SLUICE_INLINE void solve_run(const Lines& lines, const Scratch& scratch, int i, int j, std::ptrdiff_t thread, int first,
                             int end, real* x, std::ptrdiff_t stride, Count n, const double* before,
                             const double* after) {
  constexpr int lanes = bundle_lanes<Lines>;
  if constexpr (loops_on_gpu) {
    Pivots<Lines, lanes> pivots(lines, i, j, n, {scratch.pivots + thread, scratch.pivots_pitch}, first);
    solve_between<false, lanes>(lines, pivots, first, end, x, stride, n, before, after, x, stride);
  } else {
    Pivots<Lines, lanes> pivots(lines, i, j, n, {scratch.pivots, lanes}, first);
    solve_between<false, lanes>(lines, pivots, first, end, x, stride, n, before, after, scratch.rows, lanes);
  }
}

/// P-TDMA, first pass: boundary equations of each local block; block 0 of the array is block `first_block` of
/// the grid.
template <class Lines>
struct FormBoundary {
  Lines lines;
  LineArray d;
  LineArray boundary;  ///< planes 2 n and 2 n + 1 for local block n
  int first_block;

  SLUICE_INLINE void operator()(int i, int j, int k) const { for_bundle<Lines>(*this, d, i, j, k); }

  template <class Count>
  SLUICE_INLINE void bundle(int first_lane, Count n, int j, int block) const {
    constexpr int lanes = bundle_lanes<Lines>;
    const int* bounds = lines.blocks.bounds + first_block;
    const int first = bounds[block];
    const int end = bounds[block + 1];
    const real* source = d.at(first_lane, j, first - bounds[0]);
    Pivots<Lines, lanes> pivots(lines, first_lane / Lines::components, j, n, {}, first);
    real* first_rhs = boundary.at(first_lane, j, 2 * block);
    real* last_rhs = boundary.at(first_lane, j, 2 * block + 1);
    form_boundary<false, lanes>(lines, pivots, first, end, source, d.stride_z, n, first_rhs, last_rhs);
    if constexpr (Lines::components == 2) {
      if (lines.holds_singular_line && j == 0 && first_lane == 0) {
        first_rhs[1] = static_cast<real>(moment_of_block(lines, first, end, source, d.stride_z));
      }
    }
  }
};

/// P-TDMA: the systems of block-boundary values, in place.
template <class Lines>
struct SolveReduced {
  Lines lines;
  LineArray values;
  Scratch scratch;

  SLUICE_INLINE void operator()(int i, int j, int k) const { for_bundle<Lines>(*this, values, i, j, k); }

  template <class Count>
  SLUICE_INLINE void bundle(int first_lane, Count n, int j, int /*k*/) const {
    constexpr int lanes = bundle_lanes<Lines>;
    real* first = values.at(first_lane, j, 0);
    const bool singular = lines.holds_singular_line && j == 0 && first_lane == 0;
    const double mean = singular ? take_mean(lines.blocks.count, first, values.stride_z) : 0;
    if constexpr (loops_on_gpu) {
      solve_reduced<lanes>(lines, first_lane / Lines::components, j, first, values.stride_z, n, first, values.stride_z);
    } else {
      solve_reduced<lanes>(lines, first_lane / Lines::components, j, first, values.stride_z, n, scratch.rows, lanes);
    }
    if (singular) subtract_mean(mean, lines.blocks.count, first, values.stride_z);
  }
};

/// P-TDMA, second pass: the interior of each local block, its boundary values known.
template <class Lines>
struct SolveInterior {
  Lines lines;
  LineArray x;
  LineArray boundary;
  int first_block;
  Scratch scratch;

  SLUICE_INLINE void operator()(int i, int j, int k) const { for_bundle<Lines>(*this, x, i, j, k); }

  template <class Count>
  SLUICE_INLINE void bundle(int first_lane, Count n, int j, int block) const {
    constexpr int lanes = bundle_lanes<Lines>;
    const int* bounds = lines.blocks.bounds + first_block;
    const int first = bounds[block];
    const int last = bounds[block + 1] - 1;
    real* at_first = x.at(first_lane, j, first - bounds[0]);
    real* at_last = x.at(first_lane, j, last - bounds[0]);
    const real* x_first = boundary.at(first_lane, j, 2 * block);
    const real* x_last = boundary.at(first_lane, j, 2 * block + 1);
    double before[lanes];
    double after[lanes];
    for (int r = 0; r < n; ++r) {
      at_first[r] = x_first[r];
      at_last[r] = x_last[r];
      before[r] = x_first[r];
      after[r] = x_last[r];
    }
    const int i = first_lane / Lines::components;
    const std::ptrdiff_t thread = (static_cast<std::ptrdiff_t>(block) * x.rows + j) * (x.count / Lines::components) + i;
    solve_run(lines, scratch, i, j, thread, first + 1, last, at_first + x.stride_z, x.stride_z, n, before, after);
  }
};

/// P-TDMA where z is not split over ranks: both passes over all blocks while the bundle is in the cache. The
/// same arithmetic.
template <class Lines>
struct SolveAtOnce {
  Lines lines;
  LineArray x;
  Scratch scratch;

  SLUICE_INLINE void operator()(int i, int j, int k) const { for_bundle<Lines>(*this, x, i, j, k); }

  template <class Count>
  SLUICE_INLINE void bundle(int first_lane, Count n, int j, int /*k*/) const {
    constexpr int lanes = bundle_lanes<Lines>;
    const int blocks = lines.blocks.count;
    const int* bounds = lines.blocks.bounds;
    const int i = first_lane / Lines::components;
    const bool singular = lines.holds_singular_line && j == 0 && first_lane == 0;
    Pivots<Lines, lanes> pivots(lines, i, j, n, {scratch.pivots, lanes}, 0);
    for (int block = 0; block < blocks; ++block) {
      const int first = bounds[block];
      const real* d = x.at(first_lane, j, first);
      real* rhs = scratch.boundary + 2 * block * lanes;
      form_boundary<true, lanes>(lines, pivots, first, bounds[block + 1], d, x.stride_z, n, rhs, rhs + lanes);
      if constexpr (Lines::components == 2) {
        if (singular) rhs[1] = static_cast<real>(moment_of_block(lines, first, bounds[block + 1], d, x.stride_z));
      }
    }
    const double mean = singular ? take_mean(blocks, scratch.boundary, lanes) : 0;
    solve_reduced<lanes>(lines, i, j, scratch.boundary, lanes, n, scratch.rows, lanes);
    if (singular) subtract_mean(mean, blocks, scratch.boundary, lanes);
    for (int block = 0; block < blocks; ++block) {
      const int first = bounds[block];
      const int last = bounds[block + 1] - 1;
      const real* x_first = scratch.boundary + 2 * block * lanes;
      real* at_first = x.at(first_lane, j, first);
      real* at_last = x.at(first_lane, j, last);
      double before[lanes];
      double after[lanes];
      for (int r = 0; r < n; ++r) {
        at_first[r] = x_first[r];
        at_last[r] = x_first[lanes + r];
        before[r] = x_first[r];
        after[r] = x_first[lanes + r];
      }
      solve_between<true, lanes>(lines, pivots, first + 1, last, at_first + x.stride_z, x.stride_z, n, before, after,
                                 scratch.rows, lanes);
    }
  }
};

/// The Thomas algorithm on whole lines.
template <class Lines>
struct SolveWhole {
  Lines lines;
  LineArray x;
  Scratch scratch;

  SLUICE_INLINE void operator()(int i, int j, int k) const { for_bundle<Lines>(*this, x, i, j, k); }

  template <class Count>
  SLUICE_INLINE void bundle(int first_lane, Count n, int j, int /*k*/) const {
    constexpr int lanes = bundle_lanes<Lines>;
    const int i = first_lane / Lines::components;
    const std::ptrdiff_t thread = static_cast<std::ptrdiff_t>(j) * (x.count / Lines::components) + i;
    double zero[lanes];
    for (int r = 0; r < n; ++r) zero[r] = 0;
    real* lowest = x.at(first_lane, j, 0);
    solve_run(lines, scratch, i, j, thread, 0, lines.nz, lowest, x.stride_z, n, zero, zero);
    if constexpr (Lines::components == 2) {
      if (lines.holds_singular_line && j == 0 && first_lane == 0) {
        double mean = 0;
        for (int k = 0; k < lines.nz; ++k) mean += lines.mean_weight[k] * lowest[k * x.stride_z];
        for (int k = 0; k < lines.nz; ++k) {
          lowest[k * x.stride_z] = static_cast<real>(lowest[k * x.stride_z] - mean);
          lowest[k * x.stride_z + 1] = 0;
        }
      }
    }
  }
};

/// Prepares the systems of block-boundary values of the lines of a box; with `ends_known` as prepare_reduced says.
struct PrepareReduced {
  ShiftedLines lines;
  double* reduced;
  bool ends_known;

  SLUICE_INLINE void operator()(int i, int j, int /*k*/) const {
    const double shift = lines.shift_x[i] + lines.shift_y[j];
    const std::ptrdiff_t line = static_cast<std::ptrdiff_t>(j) * lines.lines_in_row + i;
    prepare_reduced(lines, shift == 0 ? lines.leak : 0, reduced + line, lines.lines, ends_known,
                    EquationsOfRows{lines, shift});
  }
};

/// The same for the blocks of ranks, condensed.
struct PrepareCondensed {
  ShiftedLines lines;  ///< with a block for each rank
  LineRows rows;       ///< with all blocks
  const int* first_blocks;
  double* reduced;

  SLUICE_INLINE void operator()(int i, int j, int /*k*/) const {
    const double shift = lines.shift_x[i] + lines.shift_y[j];
    const std::ptrdiff_t line = static_cast<std::ptrdiff_t>(j) * lines.lines_in_row + i;
    prepare_reduced(lines, shift == 0 ? lines.leak : 0, reduced + line, lines.lines, false,
                    EquationsOfCondensed{rows, first_blocks, shift});
  }
};

}  // namespace sluice
