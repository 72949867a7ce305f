// The forward transform along x of fft_rows_kernel.hpp, of values that a thread block forms in shared memory.
#include <complex>

#include "core/device/buffer.hpp"
#include "core/device/launch_cuda.hpp"
#include "core/support/error.hpp"
#include "poisson/fft/fft_launch_cuda.hpp"
#include "poisson/fft/fft_rows_kernel.hpp"
#include "poisson/fft/kernel_lengths.hpp"
#include "poisson/fft/row_stages.hpp"
#include "solver/statistics/spectra_rows.hpp"

namespace sluice {

namespace cuda {

/// What is transformed: spectra::Transformed for a kernel.
struct ValuesOfRows {
  spectra::Values values;
  Order order;
  op::In u, w;
  real sign;
};

/// Where the coefficients go: strides in complex numbers.
struct SpectrumRows {
  ComplexPair* origin;
  std::ptrdiff_t stride_y, stride_z;
  int ny;
};

/// Writes z to shared memory in the order of (1), for rows of plane k from j0 on.
template <class Choice, class Values>
__device__ __forceinline__ void form_rows(const BlockOfRows& block, const Values& values, int j0, int k) {
  constexpr RowStages s = Choice::stages;
  constexpr int nx = 2 * s.length();
  constexpr int at_once = 4;
  constexpr int tasks = nx / at_once;
  static_assert(nx % at_once == 0);
  real* const z = reinterpret_cast<real*>(block.shared);
#pragma unroll 1
  for (int task = threadIdx.x; task < block.count * tasks; task += s.threads) {
    const int row = task / tasks;
    const int first = task % tasks;
    real read[at_once];
    SLUICE_UNROLL
    for (int m = 0; m < at_once; ++m)
      read[m] = values(cell_in_row<typename Values::CellType>(first + m * tasks, j0 + row, k, nx));
    SLUICE_UNROLL
    for (int m = 0; m < at_once; ++m) {
      const int i = first + m * tasks;
      z[2 * (row * s.row() + s.place_before(i / 2)) + i % 2] = read[m];
    }
  }
}

struct ValueArguments {
  ValuesOfRows of;
  SpectrumRows to;
  Twiddles twiddles;
};

/// Blocks (x, y): of a plane's rows, planes.
template <class Choice>
struct TransformValues {
  static constexpr Bounds bounds{Choice::stages.threads, Choice::stages.resident};
  static constexpr bool merges = merges_length(2 * Choice::stages.length());

  ValueArguments arguments;

  __device__ void operator()(const uint3& place) const {
    const auto& [of, to, twiddles] = arguments;
    constexpr int rows = Choice::stages.rows;
    extern __shared__ __align__(16) unsigned char shared[];
    const int j0 = static_cast<int>(place.x) * rows;
    const int k = static_cast<int>(place.y);
    const BlockOfRows block{to.origin + (j0 * to.stride_y + k * to.stride_z), to.stride_y,
                            reinterpret_cast<ComplexPair*>(shared), to.ny - j0 < rows ? to.ny - j0 : rows};
    if (of.values == spectra::Values::field) {
      form_rows<Choice>(block, spectra::FieldValues{of.u}, j0, k);
    } else if (of.values == spectra::Values::sum_at_faces) {
      form_rows<Choice>(block, spectra::SumAtFaces{of.u, of.w, of.sign}, j0, k);
    } else if (of.order == Order::second) {
      form_rows<Choice>(block, spectra::SumAtEdges<Order::second>{of.u, of.w, of.sign}, j0, k);
    } else {
      form_rows<Choice>(block, spectra::SumAtEdges<Order::fourth>{of.u, of.w, of.sign}, j0, k);
    }
    __syncthreads();
    run_stages<Choice, true, false>(block, twiddles);
    __syncthreads();
    write_coefficients<Choice>(block, twiddles);
  }
};

}  // namespace cuda

namespace {

/// The kernel for each half length of a row.
struct ValueKernels {
  using Kernel = cuda::ChosenKernel<cuda::ValueArguments>;

  template <int Half>
  static constexpr Kernel of() {
    using Chosen = cuda::ChosenRowStages<2 * Half>;
    if constexpr (Chosen::stages.R1 > 0) {
      return Kernel::of<cuda::TransformValues<Chosen>>();
    } else {
      return {};
    }
  }
};

class Rows : public spectra::ValueTransform {
 public:
  explicit Rows(int nx) : nx_(nx), stages_(row_stages_of(nx)), twiddles_(cuda::twiddles_of(nx)) {}

  void run(const spectra::Transformed& transformed, Order order, Field& to) override {
    const Box3 box = to.local_box();
    const auto fits = [&](const Field* field) { return field == nullptr || field->box() == to.box(); };
    SLUICE_REQUIRE(box.nx() == nx_ && to.row_length() >= nx_ + 2 && fits(transformed.u) && fits(transformed.w),
                   "the fields are not those that this transform was made for");
    if (box.empty()) return;
    const op::In u = transformed.u->view();
    const op::In w = transformed.w != nullptr ? op::In(transformed.w->view()) : u;
    const View3<std::complex<real>> view = to.complex_view();
    const dim3 blocks(static_cast<unsigned>((box.ny() + stages_.rows - 1) / stages_.rows),
                      static_cast<unsigned>(box.nz()));
    cuda::kernel_of_length<ValueKernels>(nx_ / 2).run(
        "the transform of values along x",
        {blocks, dim3(static_cast<unsigned>(stages_.threads)), stages_.shared_bytes()},
        {{transformed.values, order, u, w, transformed.sign},
         {reinterpret_cast<ComplexPair*>(view.origin), view.stride_y, view.stride_z, box.ny()},
         {twiddles_.data()}});
  }

 private:
  int nx_;
  RowStages stages_;
  Buffer<ComplexPair> twiddles_;  ///< exp(-2 pi i n / nx)
};

}  // namespace

std::unique_ptr<spectra::ValueTransform> spectra::ValueTransform::make(std::int64_t nx) {
  if (nx % 2 != 0 || nx > kernel_lengths::max_row_length) return nullptr;
  const auto length = static_cast<int>(nx);
  if (!cuda::kernel_of_length<ValueKernels>(length / 2) || !cuda::has_shared(row_stages_of(length).shared_bytes()))
    return nullptr;
  return std::make_unique<Rows>(length);
}

}  // namespace sluice
