#include "poisson/divergence/divergence_fourier.hpp"

#include "core/device/buffer.hpp"
#include "core/device/check_cuda.hpp"
#include "core/device/parallel_for.hpp"
#include "core/support/error.hpp"
#include "poisson/divergence/divergence_fourier_kernel.hpp"
#include "poisson/fft/fft_launch_cuda.hpp"
#include "poisson/fft/row_stages.hpp"

namespace sluice {

namespace {

using Kernel = void (*)(DivergenceRows, cuda::CoefficientRows, const ComplexPair*, double*);

/// The kernel for each half length of a row.
template <Order order>
struct DivergenceKernels {
  template <int Half>
  static constexpr Kernel of() {
    using Chosen = cuda::ChosenRowStages<2 * Half>;
    if constexpr (Chosen::stages.R1 > 0) {
      return cuda::transform_divergence<Chosen, order>;
    } else {
      return nullptr;
    }
  }
};

Kernel kernel_of(int nx, Order order) {
  if (nx % 2 != 0) return nullptr;
  return order == Order::fourth ? cuda::kernel_of_length<DivergenceKernels<Order::fourth>>(nx / 2)
                                : cuda::kernel_of_length<DivergenceKernels<Order::second>>(nx / 2);
}

std::size_t shared_bytes(const RowStages& stages) {
  return stages.shared_bytes() + cuda::bytes_of_groups(stages);
}

/// Rows of a chunk, whose planes are transformed one after the other: few enough that the rows of w* stay in the L2
/// cache until the next plane needs them, many enough that the rows of v* between chunks, which are read twice, are
/// few.
constexpr int rows_in_chunk = 64;

bool holds_pairs(const VectorView<const real>& star) {
  const auto aligned = [](const real* component) {
    return reinterpret_cast<std::uintptr_t>(component) % sizeof(ComplexPair) == 0;
  };
  return aligned(star.u) && aligned(star.v) && aligned(star.w) && star.stride_y % 2 == 0 && star.stride_z % 2 == 0;
}

}  // namespace

bool DivergenceFourier::supports(std::int64_t nx, Order order) {
  if (nx > cuda::max_row_length) return false;
  const auto length = static_cast<int>(nx);
  const Kernel kernel = kernel_of(length, order);
  return kernel != nullptr &&
         cuda::allow_shared(reinterpret_cast<const void*>(kernel), shared_bytes(row_stages_of(length)));
}

struct DivergenceFourier::Parts {
  explicit Parts(int length) : nx(length), stages(row_stages_of(length)), twiddles(cuda::twiddles_of(length)) {}

  int nx;
  RowStages stages;
  Buffer<ComplexPair> twiddles;  ///< exp(-2 pi i n / nx)
};

DivergenceFourier::DivergenceFourier(FourierX& /*fourier_x*/, int nx) : parts_(std::make_unique<Parts>(nx)) {}

DivergenceFourier::~DivergenceFourier() = default;

void DivergenceFourier::forward(VelocityDivergence& divergence, Field& to) const {
  const auto& [nx, stages, twiddles] = *parts_;
  const DivergenceRows& rows = divergence.rows;
  const Box3 box = to.local_box();
  SLUICE_REQUIRE(box.nx() == nx, "the field is not the one this transform was made for");
  SLUICE_REQUIRE(holds_pairs(rows.star), "rows of u*, v* and w* must be aligned to two real numbers");
  const cuda::PartialSums sums = cuda::scratch_for_sums(box, 1);
  if (!box.empty()) {
    const View3<std::complex<real>> view = to.complex_view();
    const int blocks = (box.ny() + stages.rows - 1) / stages.rows;
    const int rows_in_block = (box.ny() + blocks - 1) / blocks;  // the last block has few less
    const int in_chunk = std::clamp(rows_in_chunk / rows_in_block, 1, blocks);
    const cuda::CoefficientRows coefficients{reinterpret_cast<ComplexPair*>(view.origin), view.stride_y, view.stride_z,
                                             box.ny(), rows_in_block};
    const dim3 grid(static_cast<unsigned>(in_chunk), static_cast<unsigned>(box.nz()),
                    static_cast<unsigned>((blocks + in_chunk - 1) / in_chunk));
    kernel_of(nx, rows.order)<<<grid, static_cast<unsigned>(stages.threads), shared_bytes(stages)>>>(
        rows, coefficients, twiddles.data(), sums.parts);
    check_cuda(cudaGetLastError(), "the transform of the divergence along x");
  }
  divergence.sum_of_u.fetch(cuda::add_parts("sum of u*", box, sums));
}

}  // namespace sluice
