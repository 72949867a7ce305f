// Fourier transforms along y on an NVIDIA GPU, by the stages of fft_columns_kernel.hpp and long_columns_kernel.hpp.
#include "poisson/fft/fft_columns.hpp"

#include "core/device/buffer.hpp"
#include "poisson/fft/column_launch_cuda.hpp"
#include "poisson/fft/small_dft.hpp"

namespace sluice {

namespace {

using cuda::ColumnUse;

class Columns : public SplitColumnFourier {
 public:
  Columns(int nx, int ny, int nz, std::int64_t stride_y, std::int64_t stride_z)
      : nx_(nx), nz_(nz), stride_y_(stride_y), stride_z_(stride_z), whole_(ny), split_(ny) {
    twiddles_ = Buffer<ComplexPair>(cuda::twiddles_of(ny));
  }

  void transform(const std::complex<real>* from, std::complex<real>* to, bool forward,
                 const RowsElsewhere& elsewhere) override {
    const cuda::ColumnArray array{reinterpret_cast<const ComplexPair*>(from),
                                  reinterpret_cast<ComplexPair*>(to),
                                  stride_y_,
                                  stride_z_,
                                  nx_,
                                  0,
                                  {reinterpret_cast<ComplexPair*>(elsewhere.data), elsewhere.plane_distance,
                                   elsewhere.first, static_cast<unsigned>(elsewhere.last - elsewhere.first)}};
    if (elsewhere.data != nullptr) {
      split_.run(array, nz_, twiddles_.data(), !forward, {});
    } else {
      whole_.run(array, nz_, twiddles_.data(), !forward, {});
    }
  }

 private:
  int nx_, nz_;
  std::int64_t stride_y_, stride_z_;
  cuda::ColumnTransform<ColumnUse::whole> whole_;
  cuda::ColumnTransform<ColumnUse::split> split_;
  Buffer<ComplexPair> twiddles_;  ///< exp(-2 pi i n / ny)
};

}  // namespace

bool SplitColumnFourier::has_kernel(int ny) {
  return cuda::ColumnTransform<ColumnUse::whole>(ny).exists() && cuda::ColumnTransform<ColumnUse::split>(ny).exists();
}

std::unique_ptr<SplitColumnFourier> SplitColumnFourier::make(int nx, int ny, int nz, std::int64_t stride_y,
                                                             std::int64_t stride_z) {
  if (!has_kernel(ny)) return nullptr;
  return std::make_unique<Columns>(nx, ny, nz, stride_y, stride_z);
}

}  // namespace sluice
