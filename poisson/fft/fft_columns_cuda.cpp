// Fourier transforms along y on an NVIDIA GPU, by the stages of fft_columns_kernel.hpp.
#include "poisson/fft/fft_columns.hpp"

#include "core/device/buffer.hpp"
#include "core/device/check_cuda.hpp"
#include "poisson/fft/column_stages.hpp"
#include "poisson/fft/fft_columns_kernel.hpp"
#include "poisson/fft/fft_launch_cuda.hpp"
#include "poisson/fft/small_dft.hpp"

namespace sluice {

namespace {

using cuda::ColumnUse;

template <ColumnUse use>
struct ColumnKernels {
  using Kernel = void (*)(cuda::ColumnArray, const ComplexPair*, bool, cuda::PowerArrays);

  template <int Length>
  static constexpr Kernel of() {
    if constexpr (stages_of(Length).R1 > 0) {
      return cuda::transform_columns<Length, use>;
    } else {
      return nullptr;
    }
  }
};

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
    const auto kernel = elsewhere.data != nullptr ? cuda::kernel_of_length<ColumnKernels<ColumnUse::split>>(ny_)
                                                  : cuda::kernel_of_length<ColumnKernels<ColumnUse::whole>>(ny_);
    kernel<<<static_cast<unsigned>(tiles) * static_cast<unsigned>(nz_),
             static_cast<unsigned>(stages_.columns * stages_.threads), shared_>>>(array, twiddles_.data(), !forward,
                                                                                  {});
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
  const auto kernel = cuda::kernel_of_length<ColumnKernels<ColumnUse::whole>>(ny);
  const auto split_kernel = cuda::kernel_of_length<ColumnKernels<ColumnUse::split>>(ny);
  if (kernel == nullptr) return nullptr;
  const std::size_t shared = cuda::shared_bytes(stages_of(ny));
  for (const auto each : {kernel, split_kernel}) {
    if (!cuda::allow_shared(reinterpret_cast<const void*>(each), shared)) return nullptr;
  }
  return std::make_unique<Columns>(nx, ny, nz, stride_y, stride_z, shared);
}

}  // namespace sluice
