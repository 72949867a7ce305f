#pragma once
// The precision of fields and FFTs, chosen at build time. Time, grid, coefficients and sums are always double.
#include <complex>
#include <limits>

// SLUICE_UNROLL: before a loop of constant length, to keep its arrays in registers. By itself GCC unrolls 16 passes at
// most.
#ifdef __CUDACC__
#define SLUICE_HD __host__ __device__
#define SLUICE_UNROLL _Pragma("unroll")
#else
#define SLUICE_HD
#define SLUICE_UNROLL _Pragma("GCC unroll 32")
#endif
#define SLUICE_INLINE SLUICE_HD inline __attribute__((always_inline))

namespace sluice {

#ifdef SLUICE_SINGLE
using real = float;
#else
using real = double;
#endif

/// a b + c: on a GPU rounded once, so that the bits do not depend on which products the compiler contracts.
SLUICE_INLINE real multiply_add(real a, real b, real c) {
#ifdef __CUDA_ARCH__
  return fma(a, b, c);
#else
  return a * b + c;
#endif
}

inline constexpr double real_epsilon = std::numeric_limits<real>::epsilon();
inline constexpr const char* precision_name = sizeof(real) == sizeof(double) ? "double" : "single";

}  // namespace sluice
