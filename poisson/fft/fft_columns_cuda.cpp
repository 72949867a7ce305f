#include "poisson/fft/fft_columns.hpp"

#include <algorithm>

#include "core/device/buffer.hpp"
#include "core/device/check_cuda.hpp"
#include "poisson/fft/column_stages.hpp"
#include "poisson/fft/fft_columns_kernel.hpp"
#include "poisson/fft/fft_launch_cuda.hpp"

namespace sluice {

namespace {

template <bool Split>
struct ColumnKernels {
  using Kernel = void (*)(cuda::ColumnArrays, const ComplexPair*, bool);

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
  const auto of_multiprocessor =
      static_cast<std::size_t>(cuda::device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
  return std::max(stages.shared_bytes(), of_multiprocessor / static_cast<std::size_t>(stages.resident + 1));
}

class Columns : public SplitColumnFourier {
 public:
  Columns(int nx, int ny, int nz, const ColumnStrides& from, const ColumnStrides& to, std::size_t shared)
      : nx_(nx),
        ny_(ny),
        nz_(nz),
        stages_(stages_of(ny)),
        shared_(shared),
        from_(from),
        to_(to),
        twiddles_(cuda::twiddles_of(ny)) {}

  void transform(const std::complex<real>* from, std::complex<real>* to, bool forward,
                 const RowsElsewhere& elsewhere) override {
    const int tiles = (nx_ + stages_.columns - 1) / stages_.columns;
    const auto pairs = [](const std::complex<real>* data) {
      return reinterpret_cast<ComplexPair*>(const_cast<std::complex<real>*>(data));
    };
    const cuda::ColumnArrays arrays{{pairs(from), from_.y, from_.z},
                                    {pairs(to), to_.y, to_.z},
                                    nx_,
                                    tiles,
                                    {pairs(elsewhere.data), forward ? to_.y : from_.y, elsewhere.plane},
                                    elsewhere.first,
                                    static_cast<unsigned>(elsewhere.last - elsewhere.first)};
    const auto kernel = elsewhere.data != nullptr ? cuda::kernel_of_length<ColumnKernels<true>>(ny_)
                                                  : cuda::kernel_of_length<ColumnKernels<false>>(ny_);
    kernel<<<static_cast<unsigned>(tiles) * static_cast<unsigned>(nz_),
             static_cast<unsigned>(stages_.columns * stages_.threads), shared_>>>(arrays, twiddles_.data(), !forward);
    check_cuda(cudaGetLastError(), "the transform of columns");
  }

 private:
  int nx_, ny_, nz_;
  ColumnStages stages_;
  std::size_t shared_;  ///< bytes of shared memory per thread block
  ColumnStrides from_, to_;
  Buffer<ComplexPair> twiddles_;  ///< exp(-2 pi i n / ny)
};

}  // namespace

std::unique_ptr<SplitColumnFourier> SplitColumnFourier::make(int nx, int ny, int nz, const ColumnStrides& from,
                                                             const ColumnStrides& to) {
  const std::size_t shared = stages_of(ny).R1 > 0 ? shared_bytes(stages_of(ny)) : 0;
  for (const auto kernel :
       {cuda::kernel_of_length<ColumnKernels<false>>(ny), cuda::kernel_of_length<ColumnKernels<true>>(ny)}) {
    if (kernel == nullptr || !cuda::allow_shared(reinterpret_cast<const void*>(kernel), shared)) return nullptr;
  }
  return std::make_unique<Columns>(nx, ny, nz, from, to, shared);
}

}  // namespace sluice
