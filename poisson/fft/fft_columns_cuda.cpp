// Fourier transforms along y on an NVIDIA GPU. Each column is read once, then written once, so in place works too. A
// thread block takes a few neighbouring columns of one plane, so that it reads a contiguous piece of each row, and
// transforms them in shared memory in three stages: with N = R1 R2 R3, y = (n1 R2 + n2) R3 + n3 and ky = k1 + R1 (k2 +
// R2 k3),
//   (1) over n1, times exp(-2 pi i k1 (n2 R3 + n3) / N),
//   (2) over n2, times exp(-2 pi i k2 n3 / (R2 R3)); skipped if R2 = 1,
//   (3) over n3.
// Each stage writes its results in the place of its input; the addresses to which (3) writes restore the order of the
// rows.
#include "poisson/fft/fft_columns.hpp"

#include <algorithm>

#include "core/device/buffer.hpp"
#include "core/device/check_cuda.hpp"
#include "core/device/traits.hpp"
#include "poisson/fft/column_stages.hpp"
#include "poisson/fft/fft_launch_cuda.hpp"
#include "poisson/fft/small_dft.hpp"

namespace sluice {

namespace cuda {

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

/// `twiddles`: exp(-2 pi i n / N). Backward, row ky is written as N - ky. `Split`: some rows are elsewhere.
template <int Length, bool Split>
__global__ void __launch_bounds__(stages_of(Length).columns* stages_of(Length).threads, stages_of(Length).resident)
    transform_columns(ColumnArray array, const ComplexPair* __restrict__ twiddles, bool backward) {
  constexpr ColumnStages stages = stages_of(Length);
  constexpr int R1 = stages.R1, R2 = stages.R2, R3 = stages.R3;
  constexpr int C = stages.columns, T = stages.threads;
  constexpr int group = stages.group(), layer = stages.layer();
  extern __shared__ __align__(16) unsigned char shared[];
  const int column = threadIdx.x % C;
  const int thread = threadIdx.x / C;
  ComplexPair* const values = reinterpret_cast<ComplexPair*>(shared) + column;

  const int plane = blockIdx.x / array.tiles_per_plane;
  const int x = (blockIdx.x - plane * array.tiles_per_plane) * C + column;
  const bool outside = x >= array.per_plane;
  const std::ptrdiff_t first = plane * array.stride_z + x;

#pragma unroll 1
  for (int n = thread; n < R2 * R3; n += T) {
    ComplexPair v[R1] = {};
    if (!outside) {
      if (Split && backward) {
        const SplitColumn rows(array, array.from + first, plane, x);
        SLUICE_UNROLL
        for (int m = 0; m < R1; ++m) v[m] = *rows.row(n + m * (R2 * R3));
      } else {
        const ComplexPair* from = array.from + (first + n * array.stride_y);
        const std::ptrdiff_t step = R2 * R3 * array.stride_y;
        SLUICE_UNROLL
        for (int m = 0; m < R1; ++m, from += step) v[m] = *from;
      }
    }
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

  if (outside) return;
#pragma unroll 1
  for (int n = thread; n < R1 * R2; n += T) {
    const ComplexPair* const at = values + ((n / R2) * layer + (n % R2) * group) * C;
    ComplexPair v[R3];
    SLUICE_UNROLL
    for (int m = 0; m < R3; ++m) v[m] = at[m * C];
    SmallDft<R3>::run(v);
    const int k = n / R2 + R1 * (n % R2);
    if (Split && !backward) {
      const SplitColumn rows(array, array.to + first, plane, x);
      SLUICE_UNROLL
      for (int m = 0; m < R3; ++m) *rows.row(k + m * (R1 * R2)) = v[m];
      continue;
    }
    const std::ptrdiff_t step = R1 * R2 * (backward ? -array.stride_y : array.stride_y);
    ComplexPair* const row_0 = array.to + first;
    ComplexPair* to = row_0 + (backward ? Length - k : k) * array.stride_y;
    (k == 0 ? row_0 : to)[0] = v[0];
    SLUICE_UNROLL
    for (int m = 1; m < R3; ++m) {
      to += step;
      *to = v[m];
    }
  }
}

}  // namespace cuda

namespace {

template <bool Split>
struct ColumnKernels {
  using Kernel = void (*)(cuda::ColumnArray, const ComplexPair*, bool);

  template <int Length>
  static constexpr Kernel of() {
    if constexpr (stages_of(Length).R1 > 0) {
      return cuda::transform_columns<Length, Split>;
    } else {
      return nullptr;
    }
  }
};

/// Bytes requested per thread block: more than needed, if more blocks than `resident` would fit.
std::size_t shared_bytes(const ColumnStages& stages) {
  return std::max(stages.shared_bytes(),
                  device::multiprocessors().shared_bytes / static_cast<std::size_t>(stages.resident + 1));
}

class Columns : public SplitColumnFourier {
 public:
  Columns(int nx, int ny, int nz, std::int64_t stride_y, std::int64_t stride_z, std::size_t shared)
      : nx_(nx),
        ny_(ny),
        nz_(nz),
        stages_(stages_of(ny)),
        shared_(shared),
        stride_y_(stride_y),
        stride_z_(stride_z),
        twiddles_(cuda::twiddles_of(ny)) {}

  void transform(const std::complex<real>* from, std::complex<real>* to, bool forward,
                 const RowsElsewhere& elsewhere) override {
    const int tiles = (nx_ + stages_.columns - 1) / stages_.columns;
    const cuda::ColumnArray array{reinterpret_cast<const ComplexPair*>(from),
                                  reinterpret_cast<ComplexPair*>(to),
                                  stride_y_,
                                  stride_z_,
                                  nx_,
                                  tiles,
                                  {reinterpret_cast<ComplexPair*>(elsewhere.data), elsewhere.plane_distance,
                                   elsewhere.first, static_cast<unsigned>(elsewhere.last - elsewhere.first)}};
    const auto kernel = elsewhere.data != nullptr ? cuda::kernel_of_length<ColumnKernels<true>>(ny_)
                                                  : cuda::kernel_of_length<ColumnKernels<false>>(ny_);
    kernel<<<static_cast<unsigned>(tiles) * static_cast<unsigned>(nz_),
             static_cast<unsigned>(stages_.columns * stages_.threads), shared_>>>(array, twiddles_.data(), !forward);
    check_cuda(cudaGetLastError(), "the transform of columns");
  }

 private:
  int nx_, ny_, nz_;
  ColumnStages stages_;
  std::size_t shared_;  ///< bytes of shared memory per thread block
  std::int64_t stride_y_, stride_z_;
  Buffer<ComplexPair> twiddles_;  ///< exp(-2 pi i n / ny)
};

}  // namespace

std::unique_ptr<SplitColumnFourier> SplitColumnFourier::make(int nx, int ny, int nz, std::int64_t stride_y,
                                                             std::int64_t stride_z) {
  const auto kernel = cuda::kernel_of_length<ColumnKernels<false>>(ny);
  const auto split_kernel = cuda::kernel_of_length<ColumnKernels<true>>(ny);
  if (kernel == nullptr) return nullptr;
  const std::size_t shared = shared_bytes(stages_of(ny));
  for (const auto each : {kernel, split_kernel}) {
    if (!cuda::allow_shared(reinterpret_cast<const void*>(each), shared)) return nullptr;
  }
  return std::make_unique<Columns>(nx, ny, nz, stride_y, stride_z, shared);
}

}  // namespace sluice
