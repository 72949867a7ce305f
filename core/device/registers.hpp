#pragma once
// Where the compiler of GPU code would take more registers than there are. Nothing on the host.
#include <cstddef>

#include "core/support/real.hpp"

namespace sluice::device {

/// Makes the compiler reload values from memory, instead of keeping them in scarce registers.
SLUICE_INLINE void forget_registers() {
#ifdef SLUICE_ON_GPU
  asm volatile("" ::: "memory");
#endif
}

/// The same value, of which the compiler computes nothing ahead of a loop: multiples of a distance between rows would
/// take scarce registers.
SLUICE_INLINE int not_ahead(int value) {
#ifdef __CUDA_ARCH__
  asm volatile("" : "+r"(value));
#endif
  return value;
}
SLUICE_INLINE std::ptrdiff_t not_ahead(std::ptrdiff_t value) {
#ifdef __CUDA_ARCH__
  asm volatile("" : "+l"(value));
#endif
  return value;
}

}  // namespace sluice::device
