#pragma once
// The plain loops over bundles of z lines, for CPUs and as the reference for GPUs. A bundle is a group of neighbouring
// real numbers along x: many on a CPU, where the loops over lanes vectorise; one line on a GPU, where neighbouring
// threads have neighbouring lines.
#include <algorithm>
#include <type_traits>

#include "core/device/parallel_for.hpp"
#include "poisson/tridiagonal/chains.hpp"
#include "poisson/tridiagonal/reduced_system.hpp"

namespace sluice {

/// Lanes of a bundle: one line per GPU thread; on a CPU enough for long vectors, but few enough for the cache.
template <class Lines>
inline constexpr int bundle_lanes = loops_on_gpu ? Lines::components : 64;

/// `n` real numbers of row j, from `lane` on. `n` is a compile-time constant for full bundles.
template <class Count>
struct Bundle {
  int lane;
  Count n;
  int j;
};

/// The box of parallel_for over all bundles of an array and `depth` blocks. On a CPU, x has length 1, because bundles
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

/// Calls kernel.solve(bundle, k).
template <class Lines, class Kernel>
SLUICE_INLINE void for_bundle(const Kernel& kernel, const LineArray& array, int i, int j, int k) {
  constexpr int lanes = bundle_lanes<Lines>;
  using Full = std::integral_constant<int, lanes>;
  if constexpr (loops_on_gpu) {
    kernel.solve(Bundle<Full>{i * lanes, {}, j}, k);
  } else {
    const int in_row = (array.count + lanes - 1) / lanes;
    const int lane = (j % in_row) * lanes;
    const int left = array.count - lane;
    if (left >= lanes) {
      kernel.solve(Bundle<Full>{lane, {}, j / in_row}, k);
    } else {
      kernel.solve(Bundle<int>{lane, left, j / in_row}, k);
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

/// The singular line is real. Each block's share of the mean is therefore sent in place of its imaginary part, lane 1
/// of `values`, to the rank that solves the reduced system.
SLUICE_INLINE double take_mean(int blocks, real* values, std::ptrdiff_t pitch) {
  double mean = 0;
  for (int block = 0; block < blocks; ++block) {
    mean += values[2 * block * pitch + 1];
    values[2 * block * pitch + 1] = 0;
    values[(2 * block + 1) * pitch + 1] = 0;
  }
  return mean;
}

/// Subtracting the mean from the boundary values is enough: a constant solves the homogeneous equations, so interior
/// values shift too.
SLUICE_INLINE void subtract_mean(double mean, int blocks, real* values, std::ptrdiff_t pitch) {
  for (int n = 0; n < 2 * blocks; ++n) values[n * pitch] = static_cast<real>(values[n * pitch] - mean);
}

/// Scratch memory of the loops. CPU: for one bundle at a time. GPU: the pivots of each thread; intermediate values are
/// stored in place of the solution.
struct Scratch {
  double* pivots = nullptr;
  double* rows = nullptr;
  real* boundary = nullptr;
  std::ptrdiff_t pivots_pitch = 0;  ///< on a GPU the number of threads, one column each

  SLUICE_INLINE RowStore pivots_of(std::ptrdiff_t thread) const {
    return {loops_on_gpu ? pivots + thread : pivots, pivots_pitch};
  }
  /// Storage for the intermediate values of x; room_pitch is its pitch.
  SLUICE_INLINE auto* room([[maybe_unused]] real* x) const {
    if constexpr (loops_on_gpu) {
      return x;
    } else {
      return rows;
    }
  }
  template <class Lines>
  static SLUICE_INLINE std::ptrdiff_t room_pitch(std::ptrdiff_t stride) {
    return loops_on_gpu ? stride : bundle_lanes<Lines>;
  }
};

/// The right-hand sides of a block's boundary equations; `d` is its first row.
template <bool Keep, class Lines, class Count>
SLUICE_INLINE void form_boundary(const Lines& lines, Pivots<Lines, bundle_lanes<Lines>>& pivots,
                                 const Bundle<Count>& bundle, int block, real* d, std::ptrdiff_t stride,
                                 real* first_rhs, real* last_rhs) {
  constexpr int lanes = bundle_lanes<Lines>;
  const int first = lines.blocks.bounds[block];
  const int last = lines.blocks.bounds[block + 1] - 1;
  BundleChain<Keep, Lines, lanes, Count, real> inside{pivots,     bundle.n, first + 1, last,
                                                      d + stride, stride,   nullptr,   0};
  const Eliminated<lanes> sums = eliminate<lanes>(inside, bundle.n);
  const real* d_last = d + (last - first) * stride;
  const double upper = lines.upper[first];
  const double lower = lines.lower[last];
  for (int r = 0; r < bundle.n; ++r) {
    first_rhs[r] = static_cast<real>(sums.below(r, upper, d[r]));
    last_rhs[r] = static_cast<real>(sums.above(r, lower, d_last[r]));
  }
  if constexpr (Lines::components == 2) {
    if (is_singular_line(lines, bundle.lane, bundle.j))
      first_rhs[1] = static_cast<real>(moment_of_block(lines, first, last + 1, d, stride));
  }
}

/// Solves all rows of a block from the solution in its first and last; `x` is its first row.
template <bool Kept, class Lines, class Count>
SLUICE_INLINE void solve_block(const Lines& lines, Pivots<Lines, bundle_lanes<Lines>>& pivots,
                               const Bundle<Count>& bundle, int block, const Scratch& scratch, real* x,
                               std::ptrdiff_t stride, const real* x_first, const real* x_last) {
  constexpr int lanes = bundle_lanes<Lines>;
  const int first = lines.blocks.bounds[block];
  const int last = lines.blocks.bounds[block + 1] - 1;
  real* at_last = x + (last - first) * stride;
  for (int r = 0; r < bundle.n; ++r) {
    x[r] = x_first[r];
    at_last[r] = x_last[r];
  }
  auto* room = scratch.room(x + stride);
  BundleChain<Kept, Lines, lanes, Count, std::remove_pointer_t<decltype(room)>> inside{
      pivots, bundle.n, first + 1, last, x + stride, stride, room, Scratch::room_pitch<Lines>(stride)};
  solve_between<double, lanes>(inside, bundle.n, x_first, x_last);
}

/// Solves the system of all block-boundary values of a bundle, in place.
template <class Lines, class Count>
SLUICE_INLINE void solve_reduced(const Lines& lines, const Bundle<Count>& bundle, const Scratch& scratch, real* values,
                                 std::ptrdiff_t pitch) {
  constexpr int lanes = bundle_lanes<Lines>;
  const bool singular = is_singular_line(lines, bundle.lane, bundle.j);
  const double mean = singular ? take_mean(lines.blocks.count, values, pitch) : 0;
  ReducedBundle<Lines, lanes, Count, std::remove_pointer_t<decltype(scratch.room(values))>> chain(
      lines, bundle.lane / Lines::components, bundle.j, bundle.n, values, pitch, scratch.room(values),
      Scratch::room_pitch<Lines>(pitch));
  solve_between<double, lanes>(chain, bundle.n, Zeros{}, Zeros{});
  if (singular) subtract_mean(mean, lines.blocks.count, values, pitch);
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
  SLUICE_INLINE void solve(const Bundle<Count>& bundle, int block) const {
    const int* bounds = lines.blocks.bounds + first_block;
    Pivots<Lines, bundle_lanes<Lines>> pivots(lines, bundle.lane / Lines::components, bundle.j, bundle.n);
    form_boundary<false>(
        lines, pivots, bundle, first_block + block, d.at(bundle.lane, bundle.j, bounds[block] - bounds[0]), d.stride_z,
        boundary.at(bundle.lane, bundle.j, 2 * block), boundary.at(bundle.lane, bundle.j, 2 * block + 1));
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
  SLUICE_INLINE void solve(const Bundle<Count>& bundle, int /*k*/) const {
    solve_reduced(lines, bundle, scratch, values.at(bundle.lane, bundle.j, 0), values.stride_z);
  }
};

/// P-TDMA, second pass: the interior of each local block from its boundary values.
template <class Lines>
struct SolveInterior {
  Lines lines;
  LineArray x;
  LineArray boundary;
  int first_block;
  Scratch scratch;

  SLUICE_INLINE void operator()(int i, int j, int k) const { for_bundle<Lines>(*this, x, i, j, k); }

  template <class Count>
  SLUICE_INLINE void solve(const Bundle<Count>& bundle, int block) const {
    const int* bounds = lines.blocks.bounds + first_block;
    const int i = bundle.lane / Lines::components;
    const std::ptrdiff_t thread =
        (static_cast<std::ptrdiff_t>(block) * x.rows + bundle.j) * (x.count / Lines::components) + i;
    Pivots<Lines, bundle_lanes<Lines>> pivots(lines, i, bundle.j, bundle.n, scratch.pivots_of(thread),
                                              bounds[block] + 1);
    solve_block<false>(
        lines, pivots, bundle, first_block + block, scratch, x.at(bundle.lane, bundle.j, bounds[block] - bounds[0]),
        x.stride_z, boundary.at(bundle.lane, bundle.j, 2 * block), boundary.at(bundle.lane, bundle.j, 2 * block + 1));
  }
};

/// P-TDMA if z is not split over ranks: both passes over all blocks while the bundle is in cache. The same arithmetic.
template <class Lines>
struct SolveAtOnce {
  Lines lines;
  LineArray x;
  Scratch scratch;

  SLUICE_INLINE void operator()(int i, int j, int k) const { for_bundle<Lines>(*this, x, i, j, k); }

  template <class Count>
  SLUICE_INLINE void solve(const Bundle<Count>& bundle, int /*k*/) const {
    constexpr int lanes = bundle_lanes<Lines>;
    const int* bounds = lines.blocks.bounds;
    Pivots<Lines, lanes> pivots(lines, bundle.lane / Lines::components, bundle.j, bundle.n, scratch.pivots_of(0));
    for (int block = 0; block < lines.blocks.count; ++block) {
      real* rhs = scratch.boundary + 2 * block * lanes;
      form_boundary<true>(lines, pivots, bundle, block, x.at(bundle.lane, bundle.j, bounds[block]), x.stride_z, rhs,
                          rhs + lanes);
    }
    solve_reduced(lines, bundle, scratch, scratch.boundary, lanes);
    for (int block = 0; block < lines.blocks.count; ++block) {
      const real* ends = scratch.boundary + 2 * block * lanes;
      solve_block<true>(lines, pivots, bundle, block, scratch, x.at(bundle.lane, bundle.j, bounds[block]), x.stride_z,
                        ends, ends + lanes);
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
  SLUICE_INLINE void solve(const Bundle<Count>& bundle, int /*k*/) const {
    constexpr int lanes = bundle_lanes<Lines>;
    const int i = bundle.lane / Lines::components;
    const std::ptrdiff_t thread = static_cast<std::ptrdiff_t>(bundle.j) * (x.count / Lines::components) + i;
    real* lowest = x.at(bundle.lane, bundle.j, 0);
    Pivots<Lines, lanes> pivots(lines, i, bundle.j, bundle.n, scratch.pivots_of(thread));
    auto* room = scratch.room(lowest);
    BundleChain<false, Lines, lanes, Count, std::remove_pointer_t<decltype(room)>> all{
        pivots, bundle.n, 0, lines.nz, lowest, x.stride_z, room, Scratch::room_pitch<Lines>(x.stride_z)};
    solve_between<double, lanes>(all, bundle.n, Zeros{}, Zeros{});
    if constexpr (Lines::components == 2) {
      if (is_singular_line(lines, bundle.lane, bundle.j)) {
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

/// Prepares the systems of block-boundary values of the lines of a box; `ends_known` as in prepare_reduced.
struct PrepareReduced {
  ShiftedLines lines;
  double* reduced;
  bool ends_known;

  SLUICE_INLINE void operator()(int i, int j, int /*k*/) const {
    const double shift = lines.shift(i, j);
    const std::ptrdiff_t line = static_cast<std::ptrdiff_t>(j) * lines.lines_in_row + i;
    prepare_reduced(lines, shift == 0 ? lines.singular_flux : 0, reduced + line, lines.lines, ends_known,
                    EquationsOfRows{lines, shift});
  }
};

/// The same for the ranks' condensed blocks.
struct PrepareCondensed {
  ShiftedLines lines;  ///< with a block for each rank
  LineRows rows;       ///< with all blocks
  const int* first_blocks;
  double* reduced;

  SLUICE_INLINE void operator()(int i, int j, int /*k*/) const {
    const double shift = lines.shift(i, j);
    const std::ptrdiff_t line = static_cast<std::ptrdiff_t>(j) * lines.lines_in_row + i;
    prepare_reduced(lines, shift == 0 ? lines.singular_flux : 0, reduced + line, lines.lines, false,
                    EquationsOfCondensed{rows, first_blocks, shift});
  }
};

}  // namespace sluice
