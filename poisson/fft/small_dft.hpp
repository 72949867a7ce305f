#pragma once
// Discrete Fourier transforms of a few points in registers: the building blocks of long transforms. T is a real number,
// or a vector of them (lane_stages.hpp): a transform in each lane.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/support/real.hpp"

namespace sluice {

template <class T>
struct alignas(std::min<std::size_t>(2 * sizeof(T), 64)) ComplexOf {
  T re, im;
};
/// A complex number, loaded and stored in one access.
using ComplexPair = ComplexOf<real>;

template <class T>
SLUICE_INLINE ComplexOf<T> operator+(ComplexOf<T> a, ComplexOf<T> b) {
  return {a.re + b.re, a.im + b.im};
}

template <class T>
SLUICE_INLINE ComplexOf<T> operator-(ComplexOf<T> a, ComplexOf<T> b) {
  return {a.re - b.re, a.im - b.im};
}

template <class T, class B>
SLUICE_INLINE ComplexOf<T> operator*(ComplexOf<T> a, ComplexOf<B> b) {
  return {multiply_add(b.re, a.re, -(b.im * a.im)), multiply_add(b.im, a.re, b.re * a.im)};
}

template <class T>
SLUICE_INLINE ComplexOf<T> conjugate(ComplexOf<T> a) {
  return {a.re, -a.im};
}

/// Real and imaginary part exchanged.
template <class T>
SLUICE_INLINE ComplexOf<T> exchanged(ComplexOf<T> a) {
  return {a.im, a.re};
}

/// -i a
template <class T>
SLUICE_INLINE ComplexOf<T> quarter_turn(ComplexOf<T> a) {
  return {a.im, -a.re};
}

/// cos(2 pi k / N) for lengths without simple roots of unity
template <int N>
SLUICE_INLINE constexpr double cosine(int k) {
  static_assert(N == 3 || N == 5 || N == 7 || N == 9 || N == 16);
  const int folded = k % N <= N - k % N ? k % N : N - k % N;
  switch (folded * (N == 3 ? 3 : 1) + 100 * (N == 3 ? 9 : N)) {
    case 501:
      return 0.30901699437494742410;
    case 502:
      return -0.80901699437494742410;
    case 701:
      return 0.62348980185873353053;
    case 702:
      return -0.22252093395631440429;
    case 703:
      return -0.90096886790241912624;
    case 901:
      return 0.76604444311897803520;
    case 902:
      return 0.17364817766693034885;
    case 903:
      return -0.5;
    case 904:
      return -0.93969262078590838405;
    case 1601:
      return 0.92387953251128675613;
    case 1602:
      return 0.70710678118654752440;
    case 1603:
      return 0.38268343236508977173;
    case 1604:
      return 0;
    case 1605:
      return -0.38268343236508977173;
    case 1606:
      return -0.70710678118654752440;
    case 1607:
      return -0.92387953251128675613;
    case 1608:
      return -1;
    default:
      return 1;
  }
}

/// sin(2 pi k / N)
template <int N>
SLUICE_INLINE constexpr double sine(int k) {
  const int within = k % N;
  const double sign = 2 * within > N ? -1 : 1;
  switch ((sign < 0 ? N - within : within) * (N == 3 ? 3 : 1) + 100 * (N == 3 ? 9 : N)) {
    case 501:
      return sign * 0.95105651629515357212;
    case 502:
      return sign * 0.58778525229247312917;
    case 701:
      return sign * 0.78183148246802980871;
    case 702:
      return sign * 0.97492791218182360702;
    case 703:
      return sign * 0.43388373911755812048;
    case 901:
      return sign * 0.64278760968653932632;
    case 902:
      return sign * 0.98480775301220805937;
    case 903:
      return sign * 0.86602540378443864676;
    case 904:
      return sign * 0.34202014332566873304;
    case 1601:
    case 1607:
      return sign * 0.38268343236508977173;
    case 1602:
    case 1606:
      return sign * 0.70710678118654752440;
    case 1603:
    case 1605:
      return sign * 0.92387953251128675613;
    case 1604:
      return sign;
    default:
      return 0;
  }
}

/// v exp(-2 pi i k / N)
template <int N, class T>
SLUICE_INLINE ComplexOf<T> rotated(ComplexOf<T> v, int k) {
  const int within = k % N;
  if (within == 0) return v;
  if (4 * within == N) return quarter_turn(v);
  if constexpr (N % 8 == 0) {
    constexpr auto half_root = static_cast<real>(0.70710678118654752440);
    if (8 * within == N) return {half_root * (v.re + v.im), half_root * (v.im - v.re)};
    if (8 * within == 3 * N) return {half_root * (v.im - v.re), -half_root * (v.re + v.im)};
  }
  constexpr int table = N == 8 ? 16 : N;
  return v * ComplexPair{static_cast<real>(cosine<table>(within * (table / N))),
                         static_cast<real>(-sine<table>(within * (table / N)))};
}

/// V_k = sum_n v_n exp(-2 pi i k n / N), in place; for N in 1 to 10, 12, 14, 15, 16.
template <int N>
struct SmallDft;

template <>
struct SmallDft<1> {
  template <class T>
  SLUICE_INLINE static void run(ComplexOf<T>* /*v*/) {}
};

template <>
struct SmallDft<2> {
  template <class T>
  SLUICE_INLINE static void run(ComplexOf<T>* v) {
    const ComplexOf<T> first = v[0];
    v[0] = first + v[1];
    v[1] = first - v[1];
  }
};

template <>
struct SmallDft<4> {
  template <class T>
  SLUICE_INLINE static void run(ComplexOf<T>* v) {
    const ComplexOf<T> even = v[0] + v[2];
    const ComplexOf<T> even_turned = v[0] - v[2];
    const ComplexOf<T> odd = v[1] + v[3];
    const ComplexOf<T> odd_turned = quarter_turn(v[1] - v[3]);
    v[0] = even + odd;
    v[1] = even_turned + odd_turned;
    v[2] = even - odd;
    v[3] = even_turned - odd_turned;
  }
};

/// For an odd prime: combines terms n and N - n.
template <int N>
struct OddDft {
  static constexpr int half = N / 2;

  template <class T>
  SLUICE_INLINE static void run(ComplexOf<T>* v) {
    ComplexOf<T> sum[half], difference[half];
    SLUICE_UNROLL
    for (int n = 0; n < half; ++n) {
      sum[n] = v[n + 1] + v[N - 1 - n];
      difference[n] = v[n + 1] - v[N - 1 - n];
    }
    const ComplexOf<T> first = v[0];
    SLUICE_UNROLL
    for (int n = 0; n < half; ++n) v[0] = v[0] + sum[n];
    SLUICE_UNROLL
    for (int k = 1; k <= half; ++k) {
      ComplexOf<T> even = first;
      ComplexOf<T> odd = {};
      SLUICE_UNROLL
      for (int n = 0; n < half; ++n) {
        const auto c = static_cast<real>(cosine<N>(k * (n + 1)));
        const auto s = static_cast<real>(sine<N>(k * (n + 1)));
        even = {multiply_add(c, sum[n].re, even.re), multiply_add(c, sum[n].im, even.im)};
        odd = {multiply_add(s, difference[n].re, odd.re), multiply_add(s, difference[n].im, odd.im)};
      }
      v[k] = even + quarter_turn(odd);
      v[N - k] = even - quarter_turn(odd);
    }
  }
};

/// Transforms A B points by A transforms of B points and B transforms of A points. A and B are coprime, so no twiddles
/// are needed in between.
template <int A, int B>
struct CoprimeDft {
  template <class T>
  SLUICE_INLINE static void run(ComplexOf<T>* v) {
    constexpr int N = A * B;
    ComplexOf<T> rows[A][B];
    SLUICE_UNROLL
    for (int a = 0; a < A; ++a) {
      SLUICE_UNROLL
      for (int b = 0; b < B; ++b) rows[a][b] = v[(a * B + b * A) % N];
      SmallDft<B>::run(rows[a]);
    }
    SLUICE_UNROLL
    for (int b = 0; b < B; ++b) {
      ComplexOf<T> column[A];
      SLUICE_UNROLL
      for (int a = 0; a < A; ++a) column[a] = rows[a][b];
      SmallDft<A>::run(column);
      SLUICE_UNROLL
      for (int k = 0; k < N; ++k) {
        if (k % B == b) v[k] = column[k % A];
      }
    }
  }
};

/// Transforms A B points by B transforms of A points, twiddles, and A transforms of B points.
template <int A, int B>
struct CooleyTukeyDft {
  template <class T>
  SLUICE_INLINE static void run(ComplexOf<T>* v) {
    ComplexOf<T> columns[B][A];
    SLUICE_UNROLL
    for (int b = 0; b < B; ++b) {
      SLUICE_UNROLL
      for (int a = 0; a < A; ++a) columns[b][a] = v[B * a + b];
      SmallDft<A>::run(columns[b]);
      SLUICE_UNROLL
      for (int a = 1; a < A; ++a) columns[b][a] = rotated<A * B>(columns[b][a], a * b);
    }
    SLUICE_UNROLL
    for (int a = 0; a < A; ++a) {
      ComplexOf<T> row[B];
      SLUICE_UNROLL
      for (int b = 0; b < B; ++b) row[b] = columns[b][a];
      SmallDft<B>::run(row);
      SLUICE_UNROLL
      for (int b = 0; b < B; ++b) v[a + A * b] = row[b];
    }
  }
};

// clang-format off
template <> struct SmallDft<3> : OddDft<3> {};
template <> struct SmallDft<5> : OddDft<5> {};
template <> struct SmallDft<6> : CoprimeDft<2, 3> {};
template <> struct SmallDft<7> : OddDft<7> {};
template <> struct SmallDft<8> : CooleyTukeyDft<4, 2> {};
template <> struct SmallDft<9> : CooleyTukeyDft<3, 3> {};
template <> struct SmallDft<10> : CoprimeDft<2, 5> {};
template <> struct SmallDft<12> : CoprimeDft<3, 4> {};
template <> struct SmallDft<14> : CoprimeDft<2, 7> {};
template <> struct SmallDft<15> : CoprimeDft<3, 5> {};
template <> struct SmallDft<16> : CooleyTukeyDft<4, 4> {};
// clang-format on

/// v[k] *= w^k, with as few multiplications per power as possible.
template <int N>
SLUICE_INLINE void apply_twiddles(ComplexPair* v, ComplexPair w) {
  constexpr int low = 4;
  ComplexPair power[low] = {};
  power[1] = w;
  power[2] = w * w;
  power[3] = power[2] * w;
  const ComplexPair step = power[2] * power[2];
  ComplexPair high = step;
  SLUICE_UNROLL
  for (int k = 1; k < N; ++k) {
    if (k % low != 0) v[k] = v[k] * power[k % low];
  }
  SLUICE_UNROLL
  for (int q = 1; q * low < N; ++q) {
    SLUICE_UNROLL
    for (int r = 0; r < low; ++r) {
      if (q * low + r < N) v[q * low + r] = v[q * low + r] * high;
    }
    high = high * step;
  }
}

}  // namespace sluice
