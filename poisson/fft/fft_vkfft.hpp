#pragma once
// Transforms of columns by VkFFT: strided, in place, in one pass over memory. For GPU builds; without VkFFT
// (fft_without_vkfft.cpp) there are none.
#include <cstdint>
#include <memory>
#include <string>

#include "poisson/fft/fft_columns.hpp"

namespace sluice {

/// Whether VkFFT is there, has radices for this length, and does it in one pass on every GPU.
bool fits_vkfft(int length);

/// In place only. Arguments as of SplitColumnFourier::make. Compiles its kernels, which takes about a second. Null if
/// VkFFT has no radices for this length, does not support the shape, or would need work memory as large as the data.
std::unique_ptr<ColumnFourier> make_vkfft_columns(int nx, int ny, int nz, std::int64_t stride_y, std::int64_t stride_z);

/// ", VkFFT 1.2.26", or nothing.
std::string and_vkfft();

}  // namespace sluice
