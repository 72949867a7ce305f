#pragma once
#include "poisson/fft/fft_columns.hpp"

namespace sluice {

/// Columns of any length, by FFTW.
std::unique_ptr<SplitColumnFourier> fftw_columns(int nx, int ny, int nz, std::int64_t stride_y, std::int64_t stride_z);

}  // namespace sluice
