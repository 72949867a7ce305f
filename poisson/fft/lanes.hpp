#pragma once
// Several complex numbers in vector registers of a CPU, real and imaginary parts apart: what a transform does with one
// number, it does with one of each column at a time. Lanes do not mix, so a column's bits depend on that column alone,
// and not on the number of lanes.
#include <complex>
#include <cstddef>
#include <utility>

#include "poisson/fft/small_dft.hpp"

namespace sluice {

#if defined(__AVX512F__)
inline constexpr std::size_t lane_bytes = 64;
#elif defined(__AVX__)
inline constexpr std::size_t lane_bytes = 32;
#else
inline constexpr std::size_t lane_bytes = 16;
#endif

using Lanes [[gnu::vector_size(lane_bytes)]] = real;
using LanesInMemory [[gnu::vector_size(lane_bytes), gnu::aligned(alignof(real)), gnu::may_alias]] = real;
using ComplexLanes = ComplexOf<Lanes>;

inline constexpr int lane_count = lane_bytes / sizeof(real);

namespace lanes {

using Indices = std::make_integer_sequence<int, lane_count>;

template <int... n>
SLUICE_INLINE ComplexLanes separated(Lanes low, Lanes high, std::integer_sequence<int, n...> /*indices*/) {
  return {__builtin_shufflevector(low, high, (2 * n)...), __builtin_shufflevector(low, high, (2 * n + 1)...)};
}

/// Numbers `first` and further of re_0 im_0 re_1 im_1 ...
template <int first, int... n>
SLUICE_INLINE Lanes interleaved(ComplexLanes z, std::integer_sequence<int, n...> /*indices*/) {
  return __builtin_shufflevector(z.re, z.im, ((first + n) / 2 + (n % 2) * lane_count)...);
}

}  // namespace lanes

/// `lane_count` neighbours in memory.
SLUICE_INLINE ComplexLanes load_lanes(const std::complex<real>* from) {
  const LanesInMemory* const half = reinterpret_cast<const LanesInMemory*>(from);
  return lanes::separated(half[0], half[1], lanes::Indices{});
}
SLUICE_INLINE void store_lanes(std::complex<real>* to, ComplexLanes z) {
  LanesInMemory* const half = reinterpret_cast<LanesInMemory*>(to);
  half[0] = lanes::interleaved<0>(z, lanes::Indices{});
  half[1] = lanes::interleaved<lane_count>(z, lanes::Indices{});
}
/// The same for the first `count` lanes; the others are 0.
SLUICE_INLINE ComplexLanes load_lanes(const std::complex<real>* from, int count) {
  ComplexLanes z = {};
  SLUICE_UNROLL
  for (int lane = 0; lane < lane_count; ++lane) {
    if (lane >= count) break;
    z.re[lane] = from[lane].real();
    z.im[lane] = from[lane].imag();
  }
  return z;
}
SLUICE_INLINE void store_lanes(std::complex<real>* to, ComplexLanes z, int count) {
  SLUICE_UNROLL
  for (int lane = 0; lane < lane_count; ++lane) {
    if (lane >= count) break;
    to[lane] = {z.re[lane], z.im[lane]};
  }
}

}  // namespace sluice
