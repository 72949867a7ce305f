#include "poisson/fft/fft.hpp"

#include "core/support/error.hpp"
#include "poisson/fft/fft_columns.hpp"

namespace sluice {

FourierY::FourierY(int nx, int ny, int nz, std::int64_t stride_y, std::int64_t stride_z, FourierMethod method,
                   const FftWork& work)
    : stride_y_(stride_y), stride_z_(stride_z) {
  if (nx > 0 && nz > 0) columns_ = ColumnFourier::of_any_length(nx, ny, nz, stride_y, stride_z, method, work);
}

FourierY::~FourierY() = default;

std::size_t FourierY::work_bytes(int nx, int ny, std::int64_t stride_y) {
  return nx > 0 ? ColumnFourier::work_bytes(nx, ny, stride_y) : 0;
}

void FourierY::run(View3<std::complex<real>> coefficients, std::int64_t first, bool forward) {
  SLUICE_REQUIRE(coefficients.stride_y == stride_y_ && coefficients.stride_z == stride_z_,
                 "the coefficients are not laid out as this transform was made for");
  std::complex<real>* const data = coefficients.origin + first * stride_z_;
  if (columns_) columns_->run(data, data, forward);
}

}  // namespace sluice
