#pragma once
// Fourier transforms along y on an NVIDIA GPU. Each column is read once, then written once. A thread block takes a few
// neighbouring columns of one plane, so that it reads a contiguous piece of each row, and transforms them in shared
// memory in three stages: with N = R1 R2 R3, y = (n1 R2 + n2) R3 + n3 and ky = k1 + R1 (k2 + R2 k3),
//   (1) over n1, times exp(-2 pi i k1 (n2 R3 + n3) / N),
//   (2) over n2, times exp(-2 pi i k2 n3 / (R2 R3)); skipped if R2 = 1,
//   (3) over n3.
// Each stage writes its results in the place of its input; (3) writes coefficients to memory, at addresses that restore
// the order of the rows, so in place works, too; or it squares and sums them (power_sums_cuda.cpp).
#include <cstddef>

#include "core/device/lanes.hpp"
#include "core/device/launch_cuda.hpp"
#include "poisson/fft/column_stages.hpp"
#include "poisson/fft/fft_arguments_cuda.hpp"
#include "poisson/fft/small_dft.hpp"

namespace sluice::cuda {

/// Rows of the array that are elsewhere, of its output forward, of its input backward.
struct SplitRows {
  ComplexPair* data;  ///< row `first` of the first plane
  std::ptrdiff_t stride_z;
  int first;
  unsigned count;
};

/// The columns of the input array and of the output array, which may be the same: `per_plane` in each plane.
struct ColumnArray {
  const ComplexPair* from;
  ComplexPair* to;
  std::ptrdiff_t stride_y, stride_z;  ///< in complex numbers
  int per_plane;
  int tiles_per_plane;  ///< thread blocks per plane
  SplitRows split;
};

/// Where the rows of one column are.
struct SplitColumn {
  ComplexPair* here;   ///< row 0
  ComplexPair* there;  ///< row 0, if it were elsewhere
  std::ptrdiff_t stride;
  int first;
  unsigned count;

  __device__ SplitColumn(const ColumnArray& array, const ComplexPair* row_0, int plane, int x)
      : here(const_cast<ComplexPair*>(row_0)),
        there(array.split.data + (plane * array.split.stride_z + x - array.split.first * array.stride_y)),
        stride(array.stride_y),
        first(array.split.first),
        count(array.split.count) {}
  __device__ ComplexPair* row(int n) const {
    return (static_cast<unsigned>(n - first) < count ? there : here) + n * stride;
  }
};

/// The sums of a thread block over its columns, ky = 0 ... ny - 1, in the place of its coefficients: row by row, as
/// many in each as fit.
struct SumsOfTile {
  double* row_0;
  std::ptrdiff_t stride_y;  ///< in double
  int in_row;

  /// Of the tile that begins at column x of a plane with `columns` columns, rows stride_y complex numbers apart.
  SLUICE_INLINE static SumsOfTile at(ComplexPair* plane, std::ptrdiff_t stride_y, int x, int columns,
                                     int columns_of_tile) {
    constexpr int in_column = static_cast<int>(sizeof(ComplexPair) / sizeof(double));
    const int width = columns - x < columns_of_tile ? columns - x : columns_of_tile;
    return {reinterpret_cast<double*>(plane + x), in_column * stride_y, in_column * width};
  }
  SLUICE_INLINE double& operator[](int ky) const { return row_0[ky / in_row * stride_y + ky % in_row]; }
};

/// What a transform to power writes besides.
struct PowerArrays {
  double* along_x;    ///< [z][kx]
  double* of_planes;  ///< [n][m][kx], zero before
  const int* planes;
  int planes_count;
  int first_kx, cells_x;
  double scale;
};

/// What becomes of the coefficients: they are written; some rows are elsewhere; they are squared and summed.
enum class ColumnUse { whole, split, power };

/// The sums of a thread over the coefficients of its column.
template <int Length, int columns>
struct PowerOfColumn {
  static constexpr int modes = Length / 2 + 1;
  static_assert(32 % columns == 0, "a warp must hold the same ky of all columns");

  PowerArrays to;
  int per_plane, column, plane, x;
  bool is_chosen;
  unsigned lanes;  ///< of the warp, that have the same ky
  double weight, of_column;
  SumsOfTile of_tile;

  PowerOfColumn() = default;
  __device__ PowerOfColumn(const PowerArrays& arrays, const ColumnArray& array, int column_of_block, int z, int place)
      : to(arrays),
        per_plane(array.per_plane),
        column(column_of_block),
        plane(z),
        x(place),
        is_chosen(false),
        of_column(0) {
    const int kx = to.first_kx + x;
    weight = kx == 0 || 2 * kx == to.cells_x ? to.scale : 2 * to.scale;
    for (int n = 0; n < to.planes_count; ++n) is_chosen |= to.planes[n] == plane && x < per_plane;
    lanes = (columns == 32 ? 0xffffffffU : (1U << columns % 32) - 1) << (threadIdx.x % 32 / columns * columns);
    of_tile = SumsOfTile::at(array.to + plane * array.stride_z, array.stride_y, x - column, per_plane, columns);
  }

  /// The threads of `lanes` call it together.
  __device__ __forceinline__ void add(int ky, const ComplexPair& coefficient) {
    const auto re = static_cast<double>(coefficient.re);
    const auto im = static_cast<double>(coefficient.im);
    double power = weight * (re * re + im * im);
    of_column += power;
    if (is_chosen) {
      const int mode = ky < modes ? ky : Length - ky;
      for (int n = 0; n < to.planes_count; ++n) {  // of two terms at most, so that their order does not matter
        if (to.planes[n] == plane)
          atomicAdd(to.of_planes + ((static_cast<std::ptrdiff_t>(n) * modes + mode) * per_plane + x), power);
      }
    }
    SLUICE_UNROLL
    for (int offset = columns / 2; offset > 0; offset /= 2) power += device::of_lane_xor(power, offset, lanes);
    if (column == 0) of_tile[ky] = power;
  }

  /// of_column of all threads of the block and this column, for thread 0 of each; all of them call it. `sums`: a number
  /// of each thread in shared memory.
  __device__ __forceinline__ double sum_over_threads(double* sums, int thread, int threads) const {
    double* const own = sums + threadIdx.x;
    *own = of_column;
#pragma unroll 1
    for (int left = threads; left > 1;) {
      const int half = (left + 1) / 2;
      __syncthreads();
      if (thread < left - half) *own += own[half * columns];
      left = half;
    }
    return *own;
  }

  __device__ __forceinline__ void store(double sum) const {
    if (x < per_plane) to.along_x[static_cast<std::ptrdiff_t>(plane) * per_plane + x] = sum;
  }
};

/// v[m] = row n + m Step of a column whose row 0 is at `first`.
template <ColumnUse use, int R, int Step>
__device__ __forceinline__ void load_column(const ColumnArray& array, std::ptrdiff_t first, int plane, int x, int n,
                                            bool backward, ComplexPair* v) {
  if (use == ColumnUse::split && backward) {
    const SplitColumn rows(array, array.from + first, plane, x);
    SLUICE_UNROLL
    for (int m = 0; m < R; ++m) v[m] = *rows.row(n + m * Step);
  } else {
    const ComplexPair* from = array.from + (first + n * array.stride_y);
    const std::ptrdiff_t step = Step * array.stride_y;
    SLUICE_UNROLL
    for (int m = 0; m < R; ++m, from += step) v[m] = *from;
  }
}

/// Writes v[m], the coefficient of ky = k + m Step; backward to row R Step - ky.
template <ColumnUse use, int R, int Step>
__device__ __forceinline__ void store_column(const ColumnArray& array, std::ptrdiff_t first, int plane, int x, int k,
                                             bool backward, const ComplexPair* v) {
  if (use == ColumnUse::split && !backward) {
    const SplitColumn rows(array, array.to + first, plane, x);
    SLUICE_UNROLL
    for (int m = 0; m < R; ++m) *rows.row(k + m * Step) = v[m];
    return;
  }
  const std::ptrdiff_t step = Step * (backward ? -array.stride_y : array.stride_y);
  ComplexPair* const row_0 = array.to + first;
  ComplexPair* to = row_0 + (backward ? R * Step - k : k) * array.stride_y;
  (k == 0 ? row_0 : to)[0] = v[0];
  SLUICE_UNROLL
  for (int m = 1; m < R; ++m) {
    to += step;
    *to = v[m];
  }
}

struct ColumnArguments {
  ColumnArray array;
  Twiddles twiddles;  ///< exp(-2 pi i n / N)
  bool backward;      ///< row ky is written as N - ky
  PowerArrays sums;   ///< only where coefficients are squared
};

template <int Length, ColumnUse use>
struct TransformColumns {
  static constexpr ColumnStages stages = stages_of(Length);
  static constexpr Bounds bounds{stages.columns * stages.threads, stages.resident};
  static constexpr bool merges = merges_length(Length);

  ColumnArguments arguments;

  __device__ void operator()(const uint3& block) const {
    const auto& [array, twiddles, backward, sums] = arguments;
    constexpr int R1 = stages.R1, R2 = stages.R2, R3 = stages.R3;
    constexpr int C = stages.columns, T = stages.threads;
    constexpr int group = stages.group(), layer = stages.layer();
    extern __shared__ __align__(16) unsigned char shared[];
    const int column = threadIdx.x % C;
    const int thread = threadIdx.x / C;
    ComplexPair* const values = reinterpret_cast<ComplexPair*>(shared) + column;

    const int plane = block.x / array.tiles_per_plane;
    const int x = (block.x - plane * array.tiles_per_plane) * C + column;
    const bool outside = x >= array.per_plane;
    const std::ptrdiff_t first = plane * array.stride_z + x;

#pragma unroll 1
    for (int n = thread; n < R2 * R3; n += T) {
      ComplexPair v[R1] = {};
      if (!outside) load_column<use, R1, R2 * R3>(array, first, plane, x, n, backward, v);
      SmallDft<R1>::run(v);
      apply_twiddles<R1>(v, twiddles[n]);
      ComplexPair* const at = values + ((n / R3) * group + n % R3) * C;
      SLUICE_UNROLL
      for (int m = 0; m < R1; ++m) at[m * layer * C] = v[m];
    }
    __syncthreads();

    if constexpr (R2 > 1) {
#pragma unroll 1
      for (int n = thread; n < R1 * R3; n += T) {
        ComplexPair* const at = values + ((n / R3) * layer + n % R3) * C;
        ComplexPair v[R2];
        SLUICE_UNROLL
        for (int m = 0; m < R2; ++m) v[m] = at[m * group * C];
        SmallDft<R2>::run(v);
        apply_twiddles<R2>(v, twiddles[R1 * (n % R3)]);
        SLUICE_UNROLL
        for (int m = 0; m < R2; ++m) at[m * group * C] = v[m];
      }
      __syncthreads();
    }

    static_assert(sizeof(double) * C * T <= stages.shared_bytes());
    PowerOfColumn<Length, C> power;
    if constexpr (use == ColumnUse::power) {
      power = {sums, array, column, plane, x};
    } else {
      if (outside) return;
    }
#pragma unroll 1
    for (int n = thread; n < R1 * R2; n += T) {
      const ComplexPair* const at = values + ((n / R2) * layer + (n % R2) * group) * C;
      ComplexPair v[R3];
      SLUICE_UNROLL
      for (int m = 0; m < R3; ++m) v[m] = at[m * C];
      SmallDft<R3>::run(v);
      const int k = n / R2 + R1 * (n % R2);
      if constexpr (use == ColumnUse::power) {
        SLUICE_UNROLL
        for (int m = 0; m < R3; ++m) power.add(k + m * (R1 * R2), v[m]);
      } else {
        store_column<use, R3, R1 * R2>(array, first, plane, x, k, backward, v);
      }
    }
    if constexpr (use == ColumnUse::power) {
      __syncthreads();  // the values in shared memory have been read
      const double sum = power.sum_over_threads(reinterpret_cast<double*>(shared), thread, T);
      if (thread == 0) power.store(sum);
    }
  }
};

}  // namespace sluice::cuda
