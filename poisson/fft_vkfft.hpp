#pragma once
// Transforms along y by VkFFT: strided, in place, in one pass over memory. For GPU builds that found it.
#include <cstdint>
#include <memory>

#include "core/support/real.hpp"

namespace sluice {

class VkFourierY {
 public:
  /// For nx x ny x nz coefficients, rows stride_y and planes stride_z elements apart. Compiles its kernels: takes about
  /// a second.
  VkFourierY(int nx, int ny, int nz, std::int64_t stride_y, std::int64_t stride_z);
  ~VkFourierY();
  VkFourierY(const VkFourierY&) = delete;
  VkFourierY& operator=(const VkFourierY&) = delete;

  /// Unscaled transform of the array at `coefficients`, device memory.
  void run(void* coefficients, bool forward);

 private:
  struct Application;
  std::unique_ptr<Application> application_;
};

/// "VkFFT 1.2.26"
const char* vkfft_version();

}  // namespace sluice
