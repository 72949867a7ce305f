// Transforms along y by the stages of fft_columns_kernel.hpp, whose coefficients are squared and summed in registers. A
// thread block sums over ky for each of its columns, and over its columns for each ky. It writes the latter in the
// place of its coefficients, all of which it has read; another kernel then sums over thread blocks, always in the same
// order.
#include "core/device/buffer.hpp"
#include "core/device/check_cuda.hpp"
#include "core/device/parallel_for.hpp"
#include "core/support/error.hpp"
#include "poisson/fft/fft_columns_kernel.hpp"
#include "poisson/fft/fft_launch_cuda.hpp"
#include "poisson/fft/power_sums.hpp"

namespace sluice {

namespace cuda {

/// The sums of a thread block over its columns, ky = 0 ... ny - 1, in the place of its coefficients: row by row, as
/// many in each as fit.
struct SumsOfTile {
  double* row_0;
  std::ptrdiff_t stride_y;  ///< in double
  int in_row;

  /// Of the tile that begins at column x of a plane with `columns` columns, rows stride_y complex numbers apart.
  SLUICE_INLINE static SumsOfTile at(ComplexPair* plane, std::ptrdiff_t stride_y, int x, int columns,
                                     int columns_of_tile) {
    constexpr int in_column = static_cast<int>(sizeof(ComplexPair) / sizeof(double));
    const int width = columns - x < columns_of_tile ? columns - x : columns_of_tile;
    return {reinterpret_cast<double*>(plane + x), in_column * stride_y, in_column * width};
  }
  SLUICE_INLINE double& operator[](int ky) const { return row_0[ky / in_row * stride_y + ky % in_row]; }
};

/// What a transform writes besides.
struct PowerArrays {
  double* along_x;    ///< [z][kx]
  double* of_planes;  ///< [n][m][kx], zero before
  const int* planes;
  int planes_count;
  int first_kx, cells_x;
  double scale;
};

template <int Length>
__global__ void __launch_bounds__(stages_of(Length).columns* stages_of(Length).threads, stages_of(Length).resident)
    sum_power(ColumnArray array, const ComplexPair* __restrict__ twiddles, PowerArrays to) {
  constexpr ColumnStages stages = stages_of(Length);
  constexpr int R3 = stages.R3;
  constexpr int apart = stages.R1 * stages.R2;
  constexpr int columns = stages.columns;
  constexpr int threads = stages.threads;
  constexpr int modes = Length / 2 + 1;
  static_assert(sizeof(double) * columns * threads <= stages.shared_bytes());
  static_assert(32 % columns == 0, "a warp must hold the same ky of all columns");
  extern __shared__ __align__(16) unsigned char shared[];
  const ThreadOfColumn<Length> at(array, shared);
  first_stages<Length, false>(array, at, twiddles, false);

  const int kx = to.first_kx + at.x;
  const double weight = kx == 0 || 2 * kx == to.cells_x ? to.scale : 2 * to.scale;
  bool is_chosen = false;
  for (int n = 0; n < to.planes_count; ++n) is_chosen |= to.planes[n] == at.plane;
  const SumsOfTile of_tile =
      SumsOfTile::at(array.to + at.plane * array.stride_z, array.stride_y, at.tile * columns, array.per_plane, columns);
  const unsigned first_lane = threadIdx.x % 32 / columns * columns;
  const unsigned lanes = (columns == 32 ? 0xffffffffU : (1U << columns % 32) - 1) << first_lane;
  double of_column = 0;
  third_stage<Length>(at, [&](int k, const ComplexPair(&v)[R3]) {
    SLUICE_UNROLL
    for (int m = 0; m < R3; ++m) {
      const auto re = static_cast<double>(v[m].re);
      const auto im = static_cast<double>(v[m].im);
      double power = weight * (re * re + im * im);
      of_column += power;
      const int ky = k + m * apart;
      if (is_chosen && !at.outside) {
        const int mode = ky < modes ? ky : Length - ky;
        for (int n = 0; n < to.planes_count; ++n) {  // of two terms at most, so that their order does not matter
          if (to.planes[n] == at.plane)
            atomicAdd(to.of_planes + ((static_cast<std::ptrdiff_t>(n) * modes + mode) * array.per_plane + at.x), power);
        }
      }
      SLUICE_UNROLL
      for (int offset = columns / 2; offset > 0; offset /= 2) power += __shfl_xor_sync(lanes, power, offset);
      if (at.column == 0) of_tile[ky] = power;
    }
  });

  __syncthreads();  // the values in shared memory have been read
  auto* const sums = reinterpret_cast<double*>(shared) + threadIdx.x;
  *sums = of_column;
#pragma unroll 1
  for (int left = threads; left > 1;) {
    const int half = (left + 1) / 2;
    __syncthreads();
    if (at.thread < left - half) *sums += sums[half * columns];
    left = half;
  }
  if (at.thread == 0 && !at.outside) to.along_x[static_cast<std::ptrdiff_t>(at.plane) * array.per_plane + at.x] = *sums;
}

}  // namespace cuda

namespace {

struct PowerKernels {
  using Kernel = void (*)(cuda::ColumnArray, const ComplexPair*, cuda::PowerArrays);

  template <int Length>
  static constexpr Kernel of() {
    if constexpr (stages_of(Length).R1 > 0) {
      return cuda::sum_power<Length>;
    } else {
      return nullptr;
    }
  }
};

/// along_y[z][m] = the sum over the tiles, of both ky with |ky| = m: a loop over m and z.
struct AddTiles {
  ComplexPair* array;
  std::ptrdiff_t stride_y, stride_z;
  int nx, ny, columns, modes;
  double* along_y;

  SLUICE_INLINE void operator()(int m, int z, int /*unused*/) const {
    const int opposite = (ny - m) % ny;
    double sum = 0, at_opposite = 0;
    for (int x = 0; x < nx; x += columns) {
      const auto of_tile = cuda::SumsOfTile::at(array + z * stride_z, stride_y, x, nx, columns);
      sum += of_tile[m];
      at_opposite += of_tile[opposite];
    }
    along_y[static_cast<std::ptrdiff_t>(z) * modes + m] = opposite == m ? sum : sum + at_opposite;
  }
};

/// values[n][i] = 0, a loop over i and n.
struct SetToZero {
  double* values;
  int size;
  SLUICE_INLINE void operator()(int i, int n, int /*unused*/) const {
    values[static_cast<std::ptrdiff_t>(n) * size + i] = 0;
  }
};

class Columns : public PowerTransform {
 public:
  Columns(const Box3& box, std::int64_t cells_x)
      : box_(box),
        stages_(stages_of(box.ny())),
        cells_x_(static_cast<int>(cells_x)),
        twiddles_(cuda::twiddles_of(box.ny())) {}

  void run(View3<std::complex<real>> along_x, const PowerSums& sums) override {
    const int nx = box_.nx(), ny = box_.ny(), nz = box_.nz();
    const int modes = ny / 2 + 1;
    const int tiles = (nx + stages_.columns - 1) / stages_.columns;
    auto* const data = reinterpret_cast<ComplexPair*>(along_x.origin);
    parallel_for("power on planes", box_of(std::int64_t{modes} * nx, sums.planes_count, 1),
                 SetToZero{sums.of_planes, modes * nx});
    if (nx > 0 && nz > 0) {
      const double points = static_cast<double>(cells_x_) * ny;
      const cuda::ColumnArray array{data, data, along_x.stride_y, along_x.stride_z, nx, tiles, {}};
      const cuda::PowerArrays to{
          sums.along_x, sums.of_planes,       sums.planes, sums.planes_count, static_cast<int>(box_.lo[0]),
          cells_x_,     1 / (points * points)};
      cuda::kernel_of_length<PowerKernels>(
          ny)<<<static_cast<unsigned>(tiles) * static_cast<unsigned>(nz),
                static_cast<unsigned>(stages_.columns * stages_.threads), cuda::shared_bytes(stages_)>>>(
          array, twiddles_.data(), to);
      check_cuda(cudaGetLastError(), "the transform of columns to power");
    }
    parallel_for("power along y", box_of(modes, nz, 1),
                 AddTiles{data, along_x.stride_y, along_x.stride_z, nx, ny, stages_.columns, modes, sums.along_y});
  }

 private:
  Box3 box_;
  ColumnStages stages_;
  int cells_x_;
  Buffer<ComplexPair> twiddles_;  ///< exp(-2 pi i n / ny)
};

}  // namespace

std::unique_ptr<PowerTransform> PowerTransform::make(const Box3& box, std::int64_t cells_x) {
  const auto kernel = cuda::kernel_of_length<PowerKernels>(box.ny());
  if (kernel == nullptr ||
      !cuda::allow_shared(reinterpret_cast<const void*>(kernel), cuda::shared_bytes(stages_of(box.ny()))))
    return nullptr;
  return std::make_unique<Columns>(box, cells_x);
}

}  // namespace sluice
