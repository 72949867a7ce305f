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

namespace {

struct PowerKernels {
  using Kernel = void (*)(cuda::ColumnArray, const ComplexPair*, bool, cuda::PowerArrays);

  template <int Length>
  static constexpr Kernel of() {
    if constexpr (stages_of(Length).R1 > 0) {
      return cuda::transform_columns<Length, cuda::ColumnUse::power>;
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
          array, twiddles_.data(), false, to);
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
