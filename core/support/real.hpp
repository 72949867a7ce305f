#pragma once
// The precision of fields and FFTs. Time, grid, coefficients and sums are double. io/ and model/ must not know `real`.
#include <complex>
#include <limits>

// SLUICE_UNROLL: before a loop of constant length, to keep its arrays in registers. By itself GCC unrolls 16 passes at
// most.
// SLUICE_KERNELS: the compiler makes code for a GPU. SLUICE_ON_GPU: this code runs on it.
#if defined(__CUDACC__) || defined(__HIP__)
#define SLUICE_KERNELS
#endif
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define SLUICE_ON_GPU
#endif
#ifdef SLUICE_KERNELS
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
#elif !defined(SLUICE_ANY_PRECISION)
using real = double;
#else
class real;
#endif
/// a b + c. A GPU rounds it once, so that the bits do not depend on which products the compiler contracts; host code
/// rounds it twice. T: a number, or lanes of numbers (lane_stages.hpp) that the number `a` scales.
template <class A, class T>
SLUICE_INLINE T multiply_add(A a, T b, T c) {
#ifdef SLUICE_ON_GPU
  return fma(a, b, c);
#else
  return a * b + c;
#endif
}
#ifndef SLUICE_ANY_PRECISION
inline constexpr double real_epsilon = std::numeric_limits<real>::epsilon();
inline constexpr const char* precision_name = sizeof(real) == sizeof(double) ? "double" : "single";
#endif
}  // namespace sluice
