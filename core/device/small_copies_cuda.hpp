#pragma once
// Copies by kernels, which run_together() (together.hpp) can merge. Only for files of a GPU build.
#include <cstddef>

namespace sluice::cuda {

inline constexpr std::size_t max_small_copy = 4096;  ///< bytes

/// Copies between device memory and memory of allocate_host(), in order with the loops; does not wait.
void copy_by_kernel(void* to, const void* from, std::size_t bytes);

/// Sets `words` words of 8 bytes to 0, in order with the loops.
void set_to_zero(unsigned long long* to, std::size_t words);

}  // namespace sluice::cuda
