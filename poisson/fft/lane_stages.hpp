#pragma once
// Fourier transforms of several complex numbers in vector registers of a CPU, in the stages of fft_columns_cuda.cpp.
// Real and imaginary parts are apart: what a transform does with one number, it does with one of each column at a time.
// Lanes do not mix, so a column's bits depend on that column alone, and not on the number of lanes.
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/device/buffer.hpp"
#include "core/support/error.hpp"
#include "poisson/fft/radices.hpp"
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

/// Calls action(std::integral_constant) of a radix of radices_of().
template <class Action>
void with_radix(int radix, const Action& action) {
  const auto try_from = [&]<int R>(const auto& next, std::integral_constant<int, R>) {
    if constexpr (R <= largest_radix) {
      if (radix != R) return next(next, std::integral_constant<int, R + 1>{});
      if constexpr (is_radix(R)) action(std::integral_constant<int, R>{});
    }
  };
  try_from(try_from, std::integral_constant<int, 1>{});
}

/// Unscaled transforms of `length` numbers per lane: of different lanes at the same time.
class LaneStages {
 public:
  static bool supports(int length) { return radices_of(length).R1 > 0; }

  explicit LaneStages(int length)
      : radices_(radices_of(length)),
        twiddles_1_(twiddles(radices_.R1, radices_.R2 * radices_.R3)),
        twiddles_2_(twiddles(radices_.R2, radices_.R3)),
        values_(static_cast<std::size_t>(length)) {
    SLUICE_REQUIRE(supports(length), "a length that radices_of() cannot factor");
  }

  int length() const { return radices_.length(); }

  /// Takes number n from from.load(n), all of them before to.store(k, z) takes the first coefficient k.
  template <class From, class To>
  void run(const From& from, const To& to) {
    with_radix(radices_.R1, [&](auto radix) { stage_1<radix>(from); });
    if (radices_.R2 > 1) with_radix(radices_.R2, [&](auto radix) { stage_2<radix>(); });
    with_radix(radices_.R3, [&](auto radix) { stage_3<radix>(to); });
  }

 private:
  template <int R, class From>
  void stage_1(const From& from) {
    const int layer = radices_.R2 * radices_.R3;
    const ComplexPair* power = twiddles_1_.data();
    ComplexLanes* const values = values_.data();
    for (int n = 0; n < layer; ++n, power += R - 1) {
      ComplexLanes v[R];
      SLUICE_UNROLL
      for (int m = 0; m < R; ++m) v[m] = from.load(n + m * layer);
      SmallDft<R>::run(v);
      multiply<R>(v, power);
      SLUICE_UNROLL
      for (int m = 0; m < R; ++m) values[n + m * layer] = v[m];
    }
  }

  template <int R>
  void stage_2() {
    const std::ptrdiff_t group = radices_.R3;
    const std::ptrdiff_t layer = R * group;
    for (int k = 0; k < radices_.R1; ++k) {
      const ComplexPair* power = twiddles_2_.data();
      ComplexLanes* at = values_.data() + k * layer;
      for (int n = 0; n < group; ++n, ++at, power += R - 1) {
        ComplexLanes v[R];
        SLUICE_UNROLL
        for (int m = 0; m < R; ++m) v[m] = at[m * group];
        SmallDft<R>::run(v);
        multiply<R>(v, power);
        SLUICE_UNROLL
        for (int m = 0; m < R; ++m) at[m * group] = v[m];
      }
    }
  }

  template <int R, class To>
  void stage_3(const To& to) {
    const ComplexLanes* at = values_.data();
    const int step = radices_.R1 * radices_.R2;
    for (int k1 = 0; k1 < radices_.R1; ++k1) {
      for (int k = k1; k < step; k += radices_.R1, at += R) {
        ComplexLanes v[R];
        SLUICE_UNROLL
        for (int m = 0; m < R; ++m) v[m] = at[m];
        SmallDft<R>::run(v);
        SLUICE_UNROLL
        for (int m = 0; m < R; ++m) to.store(k + m * step, v[m]);
      }
    }
  }

  template <int R>
  SLUICE_INLINE static void multiply(ComplexLanes* v, const ComplexPair* power) {
    SLUICE_UNROLL
    for (int m = 1; m < R; ++m) v[m] = v[m] * power[m - 1];
  }

  /// exp(-2 pi i m n / (radix count)) for 0 < m < radix, of each n < count.
  static std::vector<ComplexPair> twiddles(int radix, int count) {
    std::vector<ComplexPair> powers;
    for (int n = 0; n < count; ++n) {
      for (int m = 1; m < radix; ++m) {
        const double angle = -2 * std::numbers::pi * (m * n) / (radix * count);
        powers.push_back({static_cast<real>(std::cos(angle)), static_cast<real>(std::sin(angle))});
      }
    }
    return powers;
  }

  Radices radices_;
  std::vector<ComplexPair> twiddles_1_, twiddles_2_;
  Buffer<ComplexLanes> values_;
};

}  // namespace sluice
