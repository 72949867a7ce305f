#pragma once
// Transforms along y by VkFFT: strided, in place, in one pass over memory. For GPU builds with VkFFT.
#include <cstdint>
#include <memory>

#include "core/support/real.hpp"

namespace sluice {

class VkFourierY {
 public:
  /// For nx x ny x nz coefficients, rows stride_y and planes stride_z elements apart. Compiles its kernels, which takes
  /// about a second. Null if VkFFT does not support this shape, or would need work memory as large as the data.
  static std::unique_ptr<VkFourierY> make(int nx, int ny, int nz, std::int64_t stride_y, std::int64_t stride_z);

  ~VkFourierY();
  VkFourierY(const VkFourierY&) = delete;
  VkFourierY& operator=(const VkFourierY&) = delete;

  /// Unscaled transform of the array at `coefficients`, device memory.
  void run(void* coefficients, bool forward);

 private:
  VkFourierY();

  struct Application;
  std::unique_ptr<Application> application_;
};

/// "VkFFT 1.2.26"
const char* vkfft_version();

}  // namespace sluice
