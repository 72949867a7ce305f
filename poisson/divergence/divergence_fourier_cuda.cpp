// The forward transform along x of fft_rows_kernel.hpp, of div u* / (gamma dt): a thread block reads u*, v*, w*, forms
// the divergence of its rows in shared memory and transforms it there. It also sums u* over each row.
//
// Blocks are issued plane by plane for a chunk of rows, so that a block finds w* of the plane below, and v* of the rows
// beside its own, in the L2 cache: memory is read three times per point, and written once.
#include "poisson/divergence/divergence_fourier.hpp"

#include <algorithm>
#include <cstdint>

#include "core/device/buffer.hpp"
#include "core/device/lanes.hpp"
#include "core/device/launch_cuda.hpp"
#include "core/device/parallel_for.hpp"
#include "core/device/together.hpp"
#include "core/device/tuning.hpp"
#include "core/support/error.hpp"
#include "poisson/divergence/divergence_rows.hpp"
#include "poisson/fft/fft_launch_cuda.hpp"
#include "poisson/fft/fft_rows_kernel.hpp"
#include "poisson/fft/kernel_lengths.hpp"
#include "poisson/fft/row_stages.hpp"

namespace sluice {

namespace cuda {

/// Where the coefficients go: strides in complex numbers.
struct CoefficientRows {
  ComplexPair* origin;
  std::ptrdiff_t stride_y, stride_z;
  int ny;
  int in_block;  ///< rows of a thread block
};

/// Pairs of neighbouring cells whose u* is added in one group.
inline constexpr int pairs_in_group = 16;

/// What a block holds in shared memory beside its rows: the sums of the groups of each row.
constexpr std::size_t bytes_of_groups(const RowStages& stages) {
  return sizeof(double) * static_cast<std::size_t>(stages.rows * stages.length() / pairs_in_group);
}

/// How the threads of a kernel read pairs.
struct PairReading {
  int resident;  ///< thread blocks on a multiprocessor at a time
  int at_once;   ///< pairs that a thread reads before it uses them, a power of two
};

/// At least two pairs at once: with order 4, fewer thread blocks are resident than in a plain transform, to have the
/// registers for them. More pairs at once if registers are left. A thread also needs 16 registers for addresses.
template <class Choice, Order order>
constexpr PairReading pair_reading() {
  constexpr int of_pair = static_cast<int>(sizeof(DivergencePair<order>) / 4);
  constexpr int max_pairs = 32 / static_cast<int>(sizeof(real));
  PairReading reading{Choice::stages.resident, 2};
  const auto fits = [&](int pairs) {
    return pairs * of_pair + 16 <= device::registers / (Choice::stages.threads * reading.resident);
  };
  while (reading.resident > row_stages::min_resident && !fits(2)) --reading.resident;
  while (reading.at_once < max_pairs && fits(2 * reading.at_once)) reading.at_once *= 2;
  return reading;
}

/// Writes z to shared memory in the order of (1), for rows of plane k from j0 on, and the sums of u* over groups to
/// groups[row][group]. A thread reads a few pairs of one row that are far apart; its neighbours read the pairs beside
/// them. Which pairs form a group depends on nx alone, so that the sum does not depend on the process grid.
template <class Choice, Order order>
__device__ __forceinline__ void form_divergence(const BlockOfRows& block, const DivergenceRows& rows, int j0, int k,
                                                double* groups) {
  constexpr RowStages s = Choice::stages;
  constexpr int at_once = pair_reading<Choice, order>().at_once;
  constexpr int tasks = s.length() / at_once;
  constexpr int threads_of_group = pairs_in_group / at_once;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int all = block.count * tasks;
  const real inv_dz = rows.inv_dz[k];
#pragma unroll 1
  for (int first = threadIdx.x; first - lane < all; first += s.threads) {
    const bool in_block = first < all;
    const int task = in_block ? first : all - 1;  // a spare thread repeats the last task: sums need whole warps
    const int row = task / tasks;
    const int n = task % tasks;
    DivergencePair<order> pairs[at_once];
    SLUICE_UNROLL
    for (int m = 0; m < at_once; ++m)
      pairs[m] = DivergencePair<order>::read(rows.star, n + m * tasks, s.length(), j0 + row, k);
    double sum = 0;
    SLUICE_UNROLL
    for (int m = 0; m < at_once; ++m) {
      const ComplexPair z = pairs[m].divergence(rows, inv_dz);
      if (in_block) block.shared[row * s.row() + s.place_before(n + m * tasks)] = z;
      sum += pairs[m].sum_of_u();
    }
    SLUICE_UNROLL
    for (int offset = threads_of_group / 2; offset > 0; offset /= 2) sum += device::of_lane_xor(sum, offset);
    if (in_block && lane % threads_of_group == 0) groups[task / threads_of_group] = sum;
  }
}

/// sums[row] = weighted sum of u* over the row, for the block's rows.
template <class Choice>
__device__ __forceinline__ void add_groups(const BlockOfRows& block, const DivergenceRows& rows, int k,
                                           const double* groups, double* sums) {
  constexpr int count = Choice::stages.length() / pairs_in_group;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int row = static_cast<int>(threadIdx.x) / 32; row < block.count; row += Choice::stages.threads / 32) {
    double sum = 0;
    for (int n = lane; n < count; n += 32) sum += groups[row * count + n];
    for (int offset = 16; offset > 0; offset /= 2) sum += device::of_lane_above(sum, offset);
    if (lane == 0) sums[row] = sum * static_cast<double>(rows.dz[k]);
  }
}

struct DivergenceArguments {
  DivergenceRows rows;
  CoefficientRows to;
  Twiddles twiddles;
  double* sums;  ///< of each row, sums[k][j]
};

/// Blocks (x, y, z): of a chunk's rows, planes, chunks.
template <class Choice, Order order>
struct TransformDivergence {
  static constexpr Bounds bounds{Choice::stages.threads, pair_reading<Choice, order>().resident};
  static constexpr bool merges = merges_length(2 * Choice::stages.length());

  DivergenceArguments arguments;

  __device__ void operator()(const uint3& place) const {
    const auto& [rows, to, twiddles, sums] = arguments;
    extern __shared__ __align__(16) unsigned char shared[];
    const int j0 = static_cast<int>(place.z * gridDim.x + place.x) * to.in_block;
    const int k = static_cast<int>(place.y);
    if (j0 >= to.ny) return;
    const BlockOfRows block{to.origin + j0 * to.stride_y + k * to.stride_z, to.stride_y,
                            reinterpret_cast<ComplexPair*>(shared),
                            to.ny - j0 < to.in_block ? to.ny - j0 : to.in_block};
    auto* const groups = reinterpret_cast<double*>(shared + Choice::stages.shared_bytes());
    form_divergence<Choice, order>(block, rows, j0, k, groups);
    __syncthreads();
    add_groups<Choice>(block, rows, k, groups, sums + static_cast<std::size_t>(k) * to.ny + j0);
    run_stages<Choice, true, false>(block, twiddles);
    __syncthreads();
    write_coefficients<Choice>(block, twiddles);
  }
};

}  // namespace cuda

namespace {

using Kernel = cuda::ChosenKernel<cuda::DivergenceArguments>;

/// The kernel for each half length of a row.
template <Order order>
struct DivergenceKernels {
  template <int Half>
  static constexpr Kernel of() {
    using Chosen = cuda::ChosenRowStages<2 * Half>;
    if constexpr (Chosen::stages.R1 > 0) {
      return Kernel::of<cuda::TransformDivergence<Chosen, order>>();
    } else {
      return {};
    }
  }
};

Kernel kernel_of(int nx, Order order) {
  if (nx % 2 != 0) return {};
  return order == Order::fourth ? cuda::kernel_of_length<DivergenceKernels<Order::fourth>>(nx / 2)
                                : cuda::kernel_of_length<DivergenceKernels<Order::second>>(nx / 2);
}

std::size_t shared_bytes(const RowStages& stages) {
  return stages.shared_bytes() + cuda::bytes_of_groups(stages);
}

bool holds_pairs(const VectorView<const real>& star) {
  const auto aligned = [](const real* component) {
    return reinterpret_cast<std::uintptr_t>(component) % sizeof(ComplexPair) == 0;
  };
  return aligned(star.u) && aligned(star.v) && aligned(star.w) && star.stride_y % 2 == 0 && star.stride_z % 2 == 0;
}

}  // namespace

bool DivergenceFourier::supports(std::int64_t nx, Order order) {
  if (nx > kernel_lengths::max_row_length) return false;
  const auto length = static_cast<int>(nx);
  return kernel_of(length, order) && cuda::has_shared(shared_bytes(row_stages_of(length)));
}

struct DivergenceFourier::Parts {
  explicit Parts(int length) : nx(length), stages(row_stages_of(length)), twiddles(cuda::twiddles_of(length)) {}

  int nx;
  RowStages stages;
  Buffer<ComplexPair> twiddles;  ///< exp(-2 pi i n / nx)
};

DivergenceFourier::DivergenceFourier(FourierX& /*fourier_x*/, int nx) : parts_(std::make_unique<Parts>(nx)) {}

DivergenceFourier::~DivergenceFourier() = default;

void DivergenceFourier::forward(VelocityDivergence& divergence, Field& to, const PlaneRange& planes) {
  SLUICE_REQUIRE(planes == FourierX::all_planes(to), "a GPU transforms all planes at once");
  const auto& [nx, stages, twiddles] = *parts_;
  const DivergenceRows& rows = divergence.rows;
  const Box3 box = to.local_box();
  SLUICE_REQUIRE(box.nx() == nx && to.row_length() >= 2 * (nx / 2 + 1) && to.row_length() % 2 == 0,
                 "the field is not one this transform was made for: its rows must hold nx/2 + 1 coefficients");
  SLUICE_REQUIRE(holds_pairs(rows.star), "rows of u*, v* and w* must be aligned to two real numbers");
  const cuda::PartialSums sums = cuda::scratch_for_sums(box, 1, divergence.sum_of_u.data());
  if (!box.empty()) {
    const View3<std::complex<real>> view = to.complex_view();
    const int blocks = (box.ny() + stages.rows - 1) / stages.rows;
    const int rows_in_block = (box.ny() + blocks - 1) / blocks;  // the last block has few less
    const int in_chunk = std::clamp(tuning::fft::divergence_rows_in_chunk / rows_in_block, 1, blocks);
    const cuda::CoefficientRows coefficients{reinterpret_cast<ComplexPair*>(view.origin), view.stride_y, view.stride_z,
                                             box.ny(), rows_in_block};
    const dim3 grid(static_cast<unsigned>(in_chunk), static_cast<unsigned>(box.nz()),
                    static_cast<unsigned>((blocks + in_chunk - 1) / in_chunk));
    kernel_of(nx, rows.order)
        .run("the transform of the divergence along x",
             {grid, dim3(static_cast<unsigned>(stages.threads)), shared_bytes(stages)},
             {rows, coefficients, {twiddles.data()}, sums.parts});
  }
  const device::Aside aside;  // whoever needs the sum waits for it by join_aside()
  cuda::add_parts("sum of u*", box, sums);
  divergence.sum_of_u.written();
  if (divergence.when_summed) divergence.when_summed();
}

}  // namespace sluice
