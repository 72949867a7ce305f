#include "poisson/fft_columns.hpp"

#include <array>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "core/device/check_cuda.hpp"
#include "poisson/fft_columns_kernel.hpp"

namespace sluice {

namespace {

constexpr int unit = 16;  ///< lengths are multiples of it
constexpr int lengths = 128;

int device_attribute(cudaDeviceAttr attribute) {
  int device = 0;
  int value = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&value, attribute, device), "cudaDeviceGetAttribute");
  return value;
}

using Kernel = void (*)(cuda::ColumnArray, const ComplexPair*, bool);

template <int Length>
constexpr Kernel kernel_of_length() {
  if constexpr (stages_of(Length).R1 > 0) {
    return cuda::transform_columns<Length>;
  } else {
    return nullptr;
  }
}

/// Null if there is none for this length.
Kernel kernel_of(int length) {
  static constexpr auto kernels = []<int... n>(std::integer_sequence<int, n...>) {
    return std::array<Kernel, lengths>{kernel_of_length<unit*(n + 1)>()...};
  }
  (std::make_integer_sequence<int, lengths>());
  if (length % unit != 0 || length > unit * lengths) return nullptr;
  return kernels[static_cast<std::size_t>(length / unit - 1)];
}

/// What a block of threads asks for: more than it needs, where more blocks than `resident` would fit.
std::size_t shared_bytes(const ColumnStages& stages) {
  const auto of_multiprocessor =
      static_cast<std::size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
  return std::max(stages.shared_bytes(), of_multiprocessor / static_cast<std::size_t>(stages.resident + 1));
}

}  // namespace

std::unique_ptr<ColumnFourier> ColumnFourier::make(int nx, int ny, int nz, std::int64_t stride_y,
                                                   std::int64_t stride_z) {
  const Kernel kernel = kernel_of(ny);
  if (kernel == nullptr) return nullptr;
  const std::size_t shared = shared_bytes(stages_of(ny));
  if (shared > static_cast<std::size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin))) return nullptr;
  check_cuda(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(shared)),
             "the transform along y");

  std::unique_ptr<ColumnFourier> transform(new ColumnFourier);
  transform->nx_ = nx;
  transform->ny_ = ny;
  transform->nz_ = nz;
  transform->stages_ = stages_of(ny);
  transform->shared_ = shared;
  transform->stride_y_ = stride_y;
  transform->stride_z_ = stride_z;
  std::vector<ComplexPair> roots(static_cast<std::size_t>(ny));
  for (int n = 0; n < ny; ++n) {
    const double angle = -2 * std::numbers::pi * n / ny;
    roots[static_cast<std::size_t>(n)] = {static_cast<real>(std::cos(angle)), static_cast<real>(std::sin(angle))};
  }
  transform->roots_ = Buffer<ComplexPair>(roots);
  return transform;
}

void ColumnFourier::run(void* coefficients, bool forward) {
  const int tiles = (nx_ + stages_.columns - 1) / stages_.columns;
  const cuda::ColumnArray array{static_cast<ComplexPair*>(coefficients), stride_y_, stride_z_, nx_, tiles};
  kernel_of(ny_)<<<static_cast<unsigned>(tiles) * static_cast<unsigned>(nz_),
                   static_cast<unsigned>(stages_.columns * stages_.threads), shared_>>>(array, roots_.data(), !forward);
  check_cuda(cudaGetLastError(), "the transform along y");
}

}  // namespace sluice
