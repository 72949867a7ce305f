#include "poisson/fft/fft_vkfft.hpp"

namespace sluice {

bool fits_vkfft(int /*length*/) {
  return false;
}

std::unique_ptr<ColumnFourier> make_vkfft_columns(int /*nx*/, int /*ny*/, int /*nz*/, std::int64_t /*stride_y*/,
                                                  std::int64_t /*stride_z*/) {
  return nullptr;
}

std::string and_vkfft() {
  return "";
}

}  // namespace sluice
