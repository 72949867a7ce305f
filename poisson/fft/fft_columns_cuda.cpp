#include "poisson/fft/fft_columns.hpp"

#include <algorithm>

#include "core/device/check_cuda.hpp"
#include "poisson/fft/fft_columns_kernel.hpp"
#include "poisson/fft/fft_launch_cuda.hpp"

namespace sluice {

namespace {

struct ColumnKernels {
  using Kernel = void (*)(cuda::ColumnArray, const ComplexPair*, bool);

  template <int Length>
  static constexpr Kernel of() {
    if constexpr (stages_of(Length).R1 > 0) {
      return cuda::transform_columns<Length>;
    } else {
      return nullptr;
    }
  }
};

/// What a block of threads asks for: more than it needs, where more blocks than `resident` would fit.
std::size_t shared_bytes(const ColumnStages& stages) {
  const auto of_multiprocessor =
      static_cast<std::size_t>(cuda::device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
  return std::max(stages.shared_bytes(), of_multiprocessor / static_cast<std::size_t>(stages.resident + 1));
}

}  // namespace

std::unique_ptr<ColumnFourier> ColumnFourier::make(int nx, int ny, int nz, std::int64_t stride_y,
                                                   std::int64_t stride_z) {
  const auto kernel = cuda::kernel_of_length<ColumnKernels>(ny);
  if (kernel == nullptr) return nullptr;
  const std::size_t shared = shared_bytes(stages_of(ny));
  if (!cuda::allow_shared(reinterpret_cast<const void*>(kernel), shared)) return nullptr;

  std::unique_ptr<ColumnFourier> transform(new ColumnFourier);
  transform->nx_ = nx;
  transform->ny_ = ny;
  transform->nz_ = nz;
  transform->stages_ = stages_of(ny);
  transform->shared_ = shared;
  transform->stride_y_ = stride_y;
  transform->stride_z_ = stride_z;
  transform->roots_ = Buffer<ComplexPair>(cuda::roots_of_unity(ny));
  return transform;
}

void ColumnFourier::run(const void* from, void* to, bool forward) {
  const int tiles = (nx_ + stages_.columns - 1) / stages_.columns;
  const cuda::ColumnArray array{
      static_cast<const ComplexPair*>(from), static_cast<ComplexPair*>(to), stride_y_, stride_z_, nx_, tiles};
  cuda::kernel_of_length<ColumnKernels>(ny_)<<<static_cast<unsigned>(tiles) * static_cast<unsigned>(nz_),
                                               static_cast<unsigned>(stages_.columns * stages_.threads), shared_>>>(
      array, roots_.data(), !forward);
  check_cuda(cudaGetLastError(), "the transform along y");
}

}  // namespace sluice
