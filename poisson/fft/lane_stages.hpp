#pragma once
// Fourier transforms of complex numbers in the lanes of vector registers, in the stages of fft_columns_kernel.hpp.
#include <cmath>
#include <cstddef>
#include <numbers>
#include <type_traits>
#include <vector>

#include "core/device/buffer.hpp"
#include "core/support/error.hpp"
#include "poisson/fft/lanes.hpp"
#include "poisson/fft/radices.hpp"

namespace sluice {

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
