#pragma once
// Fourier transforms along y on an NVIDIA GPU. Each column is read once. A thread block takes a few neighbouring
// columns of one plane, so that it reads a contiguous piece of each row, and transforms them in shared memory in three
// stages: with N = R1 R2 R3, y = (n1 R2 + n2) R3 + n3 and ky = k1 + R1 (k2 + R2 k3),
//   (1) over n1, times exp(-2 pi i k1 (n2 R3 + n3) / N),
//   (2) over n2, times exp(-2 pi i k2 n3 / (R2 R3)); skipped if R2 = 1,
//   (3) over n3.
// Each stage writes its results in the place of its input; (3) gives them to the kernel's own code, with their ky.
#include <algorithm>
#include <cstddef>

#include "core/device/traits.hpp"
#include "poisson/fft/column_stages.hpp"
#include "poisson/fft/small_dft.hpp"

namespace sluice::cuda {

/// Bytes requested per thread block: more than needed, if more blocks than `resident` would fit.
inline std::size_t shared_bytes(const ColumnStages& stages) {
  return std::max(stages.shared_bytes(),
                  device::multiprocessors().shared_bytes / static_cast<std::size_t>(stages.resident + 1));
}

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

/// The column of this thread, and which of the threads of the column it is.
template <int Length>
struct ThreadOfColumn {
  static constexpr ColumnStages stages = stages_of(Length);

  int column;  ///< of the thread block
  int thread;  ///< of the column
  int tile, plane, x;
  bool outside;          ///< beyond the last column of the plane
  std::ptrdiff_t first;  ///< place of row 0 in the array
  ComplexPair* values;   ///< of the column in shared memory, rows `columns` apart

  __device__ ThreadOfColumn(const ColumnArray& array, unsigned char* shared)
      : column(threadIdx.x % stages.columns),
        thread(threadIdx.x / stages.columns),
        tile(blockIdx.x % array.tiles_per_plane),
        plane(blockIdx.x / array.tiles_per_plane),
        x(tile * stages.columns + column),
        outside(x >= array.per_plane),
        first(plane * array.stride_z + x),
        values(reinterpret_cast<ComplexPair*>(shared) + column) {}
};

/// (1) and (2), from memory to shared memory. `twiddles`: exp(-2 pi i n / N). `Split`: some rows are elsewhere if
/// `backward`. Call it with all threads of the block.
template <int Length, bool Split>
__device__ __forceinline__ void first_stages(const ColumnArray& array, const ThreadOfColumn<Length>& at,
                                             const ComplexPair* __restrict__ twiddles, bool backward) {
  constexpr ColumnStages stages = stages_of(Length);
  constexpr int R1 = stages.R1, R2 = stages.R2, R3 = stages.R3;
  constexpr int C = stages.columns, T = stages.threads;
  constexpr int group = stages.group(), layer = stages.layer();
#pragma unroll 1
  for (int n = at.thread; n < R2 * R3; n += T) {
    ComplexPair v[R1] = {};
    if (!at.outside) {
      if (Split && backward) {
        const SplitColumn rows(array, array.from + at.first, at.plane, at.x);
        SLUICE_UNROLL
        for (int m = 0; m < R1; ++m) v[m] = *rows.row(n + m * (R2 * R3));
      } else {
        const ComplexPair* from = array.from + (at.first + n * array.stride_y);
        const std::ptrdiff_t step = R2 * R3 * array.stride_y;
        SLUICE_UNROLL
        for (int m = 0; m < R1; ++m, from += step) v[m] = *from;
      }
    }
    SmallDft<R1>::run(v);
    apply_twiddles<R1>(v, twiddles[n]);
    ComplexPair* const to = at.values + ((n / R3) * group + n % R3) * C;
    SLUICE_UNROLL
    for (int m = 0; m < R1; ++m) to[m * layer * C] = v[m];
  }
  __syncthreads();

  if constexpr (R2 > 1) {
#pragma unroll 1
    for (int n = at.thread; n < R1 * R3; n += T) {
      ComplexPair* const place = at.values + ((n / R3) * layer + n % R3) * C;
      ComplexPair v[R2];
      SLUICE_UNROLL
      for (int m = 0; m < R2; ++m) v[m] = place[m * group * C];
      SmallDft<R2>::run(v);
      apply_twiddles<R2>(v, twiddles[R1 * (n % R3)]);
      SLUICE_UNROLL
      for (int m = 0; m < R2; ++m) place[m * group * C] = v[m];
    }
    __syncthreads();
  }
}

/// (3), from shared memory: calls use(ky, v) for the coefficients v of ky, ky + R1 R2, ky + 2 R1 R2 and so on, with ky
/// < R1 R2.
template <int Length, class Use>
__device__ __forceinline__ void third_stage(const ThreadOfColumn<Length>& at, const Use& use) {
  constexpr ColumnStages stages = stages_of(Length);
  constexpr int R1 = stages.R1, R2 = stages.R2, R3 = stages.R3;
#pragma unroll 1
  for (int n = at.thread; n < R1 * R2; n += stages.threads) {
    const ComplexPair* const from =
        at.values + ((n / R2) * stages.layer() + (n % R2) * stages.group()) * stages.columns;
    ComplexPair v[R3];
    SLUICE_UNROLL
    for (int m = 0; m < R3; ++m) v[m] = from[m * stages.columns];
    SmallDft<R3>::run(v);
    use(n / R2 + R1 * (n % R2), v);
  }
}

}  // namespace sluice::cuda
