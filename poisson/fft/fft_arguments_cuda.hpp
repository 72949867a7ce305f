#pragma once
// What all our own kernels for transforms have. Only for files of a GPU build.
#include "poisson/fft/small_dft.hpp"

namespace sluice::cuda {

/// Powers of a root of unity in device memory, which no kernel changes: read through the cache for constant data.
struct Twiddles {
  const ComplexPair* values;

  __device__ __forceinline__ ComplexPair operator[](int n) const {
    if constexpr (sizeof(real) == sizeof(double)) {
      const double2 pair = __ldg(reinterpret_cast<const double2*>(values + n));
      return {static_cast<real>(pair.x), static_cast<real>(pair.y)};
    } else {
      const float2 pair = __ldg(reinterpret_cast<const float2*>(values + n));
      return {static_cast<real>(pair.x), static_cast<real>(pair.y)};
    }
  }
};

/// Whether launches of several flows with rows or columns of this length are merged: longer ones are parts of grids
/// that fill a GPU alone.
constexpr bool merges_length(int length) {
  return length <= 512;
}

}  // namespace sluice::cuda
