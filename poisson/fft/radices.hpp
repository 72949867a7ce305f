#pragma once
// How the length of a transform on a GPU is factored into the radices of its stages.
#include <algorithm>

namespace sluice {

/// N = R1 R2 R3; R2 = 1 if there are two stages.
struct Radices {
  int R1, R2, R3;

  constexpr int length() const { return R1 * R2 * R3; }
  constexpr int largest() const { return std::max({R1, R2, R3}); }
};

inline constexpr int largest_radix = 16;

/// Whether SmallDft supports it.
constexpr bool is_radix(int n) {
  return n >= 1 && n <= largest_radix && n != 11 && n != 13;
}

/// Threads of a multiprocessor if each holds a transform of `radix` points in registers.
constexpr int threads_that_fit(int radix) {
  if (radix <= 8) return 1024;
  return radix <= 12 ? 768 : 512;
}

/// Two radices if possible, else three, as equal as possible, in ascending order; R1 = 0 if there are none.
constexpr Radices radices_of(int length) {
  Radices best = {};
  int min_price = 0;
  for (int a = 2; a <= largest_radix; ++a) {
    if (!is_radix(a) || length % a != 0) continue;
    for (int b = 1; b <= largest_radix; b = b == 1 ? a : b + 1) {
      if (!is_radix(b) || length / a % b != 0) continue;
      const int c = length / a / b;
      if (c < std::max(a, b) || !is_radix(c)) continue;
      const int price = (b > 1 ? 10'000 : 0) + 100 * c + a + b;
      if (min_price == 0 || price < min_price) {
        min_price = price;
        best = {a, b, c};
      }
    }
  }
  return best;
}

}  // namespace sluice
