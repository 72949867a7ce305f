#pragma once
// Fourier transforms along y on an NVIDIA GPU, of columns that are too long for the shared memory of a thread block,
// each read once and written once. A cluster of `parts` thread blocks takes a few neighbouring columns of one plane,
// and transforms them in four stages: with N = R1 R2 R3 R4, y = ((n1 R2 + n2) R3 + n3) R4 + n4 and ky = k1 + R1 (k2 +
// R2 (k3 + R3 k4)),
//   (1) over n1, times exp(-2 pi i k1 ((n2 R3 + n3) R4 + n4) / N),
//   (2) over n2, times exp(-2 pi i k2 (n3 R4 + n4) / (R2 R3 R4)),
//   (3) over n3, times exp(-2 pi i k3 n4 / (R3 R4)),
//   (4) over n4.
// In (1) a thread block takes every parts-th portion of the rows and writes each result into the shared memory of the
// thread block that has its k1, which is k1 mod parts. The other stages write their results in the place of their
// input; (4) writes coefficients to memory or sums their squares, as the shorter transforms do
// (fft_columns_kernel.hpp).
#include <cstddef>

#include "core/device/clusters.hpp"
#include "core/device/tuning.hpp"
#include "poisson/fft/fft_columns_kernel.hpp"
#include "poisson/fft/long_column_stages.hpp"
#include "poisson/fft/small_dft.hpp"

namespace sluice::cuda {

/// A thread block has any number of threads, and a cluster any number of thread blocks, that long_launch_of() chooses.
template <int Length, ColumnUse use>
struct TransformLongColumns {
  static constexpr LongColumnStages s = long_stages_of(Length);
  static constexpr Bounds bounds{threads_for_long_columns(s.largest()) / min_blocks_of_long_columns,
                                 min_blocks_of_long_columns};
  static constexpr bool merges = false;

  ColumnArguments arguments;

  __device__ void operator()(const uint3& block) const {
    const auto& [array, twiddles, backward, sums] = arguments;
    constexpr int C = LongColumnStages::columns;
    constexpr int R1 = s.R1, R2 = s.R2, R3 = s.R3, R4 = s.R4;
    constexpr int group = s.group(), layer = s.layer();
    extern __shared__ __align__(16) unsigned char shared[];
    const int column = threadIdx.x % C;
    const int thread = threadIdx.x / C;
    const int threads = blockDim.x / C;
    const int parts = device::parts_of_cluster();  // a power of two
    const int part = device::part_in_cluster();
    const int log2_parts = __ffs(parts) - 1;
    const int here = R1 >> log2_parts;  // values of k1
    ComplexPair* const values = reinterpret_cast<ComplexPair*>(shared) + column;

    const int tile = static_cast<int>(block.x) >> log2_parts;
    const int plane = tile / array.tiles_per_plane;
    const int x = (tile - plane * array.tiles_per_plane) * C + column;
    const bool outside = x >= array.per_plane;
    const std::ptrdiff_t first = plane * array.stride_z + x;

    device::synchronize_cluster();  // all its thread blocks have shared memory from here on
#pragma unroll 1
    for (int n = part * threads + thread; n < R2 * R3 * R4; n += parts * threads) {
      ComplexPair v[R1] = {};
      if (!outside) load_column<use, R1, R2 * R3 * R4>(array, first, plane, x, n, backward, v);
      SmallDft<R1>::run(v);
      apply_twiddles<R1>(v, twiddles[n]);
      ComplexPair* const at = values + (n / R4 * group + n % R4) * C;
      SLUICE_UNROLL
      for (int k1 = 0; k1 < R1; ++k1) {
        *device::in_part(at + (k1 >> log2_parts) * (layer * C), k1 & (parts - 1)) = v[k1];
      }
    }
    device::synchronize_cluster();

#pragma unroll 1
    for (int task = thread; task < here * R3 * R4; task += threads) {
      const int n = task % (R3 * R4);
      ComplexPair* const at = values + (task / (R3 * R4) * layer + n / R4 * group + n % R4) * C;
      ComplexPair v[R2];
      SLUICE_UNROLL
      for (int m = 0; m < R2; ++m) v[m] = at[m * (R3 * group * C)];
      SmallDft<R2>::run(v);
      apply_twiddles<R2>(v, twiddles[R1 * n]);
      SLUICE_UNROLL
      for (int m = 0; m < R2; ++m) at[m * (R3 * group * C)] = v[m];
    }
    __syncthreads();

#pragma unroll 1
    for (int task = thread; task < here * R2 * R4; task += threads) {
      const int n = task % R4;
      ComplexPair* const at = values + (task / R4 * (R3 * group) + n) * C;
      ComplexPair v[R3];
      SLUICE_UNROLL
      for (int m = 0; m < R3; ++m) v[m] = at[m * (group * C)];
      SmallDft<R3>::run(v);
      apply_twiddles<R3>(v, twiddles[R1 * R2 * n]);
      SLUICE_UNROLL
      for (int m = 0; m < R3; ++m) at[m * (group * C)] = v[m];
    }
    __syncthreads();

    PowerOfColumn<Length, C> power;
    if constexpr (use == ColumnUse::power) {
      power = {sums, array, column, plane, x};
    } else {
      if (outside) return;
    }
#pragma unroll 1
    for (int task = thread; task < here * R2 * R3; task += threads) {
      const ComplexPair* const at = values + task * (group * C);
      ComplexPair v[R4];
      SLUICE_UNROLL
      for (int m = 0; m < R4; ++m) v[m] = at[m * C];
      SmallDft<R4>::run(v);
      const int k1 = (task / (R2 * R3) << log2_parts) + part;
      const int k = k1 + R1 * (task % (R2 * R3) / R3) + R1 * R2 * (task % R3);
      if constexpr (use == ColumnUse::power) {
        SLUICE_UNROLL
        for (int m = 0; m < R4; ++m) power.add(k + m * (R1 * R2 * R3), v[m]);
      } else {
        store_column<use, R4, R1 * R2 * R3>(array, first, plane, x, k, backward, v);
      }
    }
    if constexpr (use == ColumnUse::power) {
      device::synchronize_cluster();  // no values are read in shared memory any more
      auto* const of_threads = reinterpret_cast<double*>(shared);
      auto* const of_parts = of_threads + threads * C;
      const double sum = power.sum_over_threads(of_threads, thread, threads);
      if (thread == 0) *device::in_part(of_parts + part * C + column, 0) = sum;
      device::synchronize_cluster();
      if (part == 0 && thread == 0) {
        double all = 0;
        for (int p = 0; p < parts; ++p) all += of_parts[p * C + column];
        power.store(all);
      }
    }
  }
};

}  // namespace sluice::cuda
