#include "poisson/fft/fft_rows.hpp"

#include "core/device/launch_cuda.hpp"
#include "core/support/error.hpp"
#include "poisson/fft/fft_launch_cuda.hpp"
#include "poisson/fft/fft_rows_kernel.hpp"

namespace sluice {

namespace {

using Kernel = cuda::ChosenKernel<cuda::RowArguments>;

/// The kernel for each half length of a row.
template <bool Backward>
struct RowKernels {
  template <int Half>
  static constexpr Kernel of() {
    using Chosen = cuda::ChosenRowStages<2 * Half>;
    if constexpr (Chosen::stages.R1 > 0) {
      return Kernel::of<cuda::TransformRows<Chosen, Backward>>();
    } else {
      return {};
    }
  }
};

Kernel kernel_of(int nx, bool forward) {
  if (nx % 2 != 0) return {};
  return forward ? cuda::kernel_of_length<RowKernels<false>>(nx / 2) : cuda::kernel_of_length<RowKernels<true>>(nx / 2);
}

}  // namespace

bool RowFourier::has_kernel(std::int64_t nx) {
  if (nx < 1 || nx > kernel_lengths::max_row_length) return false;
  const auto length = static_cast<int>(nx);
  return kernel_of(length, true) && kernel_of(length, false) &&
         row_stages_of(length).shared_bytes() <= device::multiprocessors().max_shared_bytes_of_block;
}

std::unique_ptr<RowFourier> RowFourier::make(int nx, std::int64_t rows, std::int64_t row_length) {
  if (!has_kernel(nx)) return nullptr;
  const RowStages stages = row_stages_of(nx);
  SLUICE_REQUIRE(row_length >= nx + 2 && row_length % 2 == 0,
                 "rows are too short for a transform in place, or of odd length");
  std::unique_ptr<RowFourier> transform(new RowFourier);
  transform->nx_ = nx;
  transform->rows_ = rows;
  transform->row_length_ = row_length;
  transform->stages_ = stages;
  transform->twiddles_ = Buffer<ComplexPair>(cuda::twiddles_of(nx));
  return transform;
}

void RowFourier::run(real* data, bool forward) {
  if (rows_ <= 0) return;
  const cuda::RowArray array{reinterpret_cast<ComplexPair*>(data), row_length_ / 2, rows_};
  const std::int64_t blocks = (rows_ + stages_.rows - 1) / stages_.rows;
  kernel_of(nx_, forward)
      .run("the transform along x",
           {dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(stages_.threads)), stages_.shared_bytes()},
           {array, {twiddles_.data()}});
}

}  // namespace sluice
