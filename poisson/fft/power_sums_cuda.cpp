// Transforms along y by the stages of fft_columns_kernel.hpp, whose coefficients are squared and summed in registers. A
// thread block sums over ky for each of its columns, and over its columns for each ky. It writes the latter in the
// place of its coefficients, all of which it has read; another kernel then sums over thread blocks, always in the same
// order.
#include "core/device/buffer.hpp"
#include "core/device/parallel_for.hpp"
#include "poisson/fft/column_launch_cuda.hpp"
#include "poisson/fft/power_sums.hpp"

namespace sluice {

namespace {

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
      : box_(box), cells_x_(static_cast<int>(cells_x)), transform_(box.ny()) {
    if (exists()) twiddles_ = Buffer<ComplexPair>(cuda::twiddles_of(box.ny()));
  }

  bool exists() const { return transform_.exists(); }

  void run(View3<std::complex<real>> along_x, const PowerSums& sums) override {
    const int nx = box_.nx(), ny = box_.ny(), nz = box_.nz();
    const int modes = ny / 2 + 1;
    auto* const data = reinterpret_cast<ComplexPair*>(along_x.origin);
    parallel_for("power on planes", box_of(std::int64_t{modes} * nx, sums.planes_count, 1),
                 SetToZero{sums.of_planes, modes * nx});
    if (nx > 0 && nz > 0) {
      const double points = static_cast<double>(cells_x_) * ny;
      const cuda::PowerArrays to{
          sums.along_x, sums.of_planes,       sums.planes, sums.planes_count, static_cast<int>(box_.lo[0]),
          cells_x_,     1 / (points * points)};
      transform_.run({data, data, along_x.stride_y, along_x.stride_z, nx, 0, {}}, nz, twiddles_.data(), false, to);
    }
    parallel_for("power along y", box_of(modes, nz, 1),
                 AddTiles{data, along_x.stride_y, along_x.stride_z, nx, ny, transform_.columns(), modes, sums.along_y});
  }

 private:
  Box3 box_;
  int cells_x_;
  cuda::ColumnTransform<cuda::ColumnUse::power> transform_;
  Buffer<ComplexPair> twiddles_;  ///< exp(-2 pi i n / ny)
};

}  // namespace

std::unique_ptr<PowerTransform> PowerTransform::make(const Box3& box, std::int64_t cells_x) {
  auto transform = std::make_unique<Columns>(box, cells_x);
  if (!transform->exists()) return nullptr;
  return transform;
}

}  // namespace sluice
