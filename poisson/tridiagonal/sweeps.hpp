#pragma once
// The arithmetic of tridiagonal systems along z, written once. A chain of neighbouring unknowns is eliminated, or
// solved for, between an unknown below it and one above. A chain is the inside of a block, the reduced system, or the
// part of the reduced system that one rank condenses.
//
// A block of rows first, ..., last is eliminated as in Diez Sanhueza et al. 2025, Algorithm 2, in a form that reads d
// once and stores nothing. With the pivots b_k = diagonal_k - lower_k upper_{k-1} / b_{k-1} of the rows between first
// and last,
//
//   g_k = (d_k - lower_k g_{k-1}) / b_k,        weight_{k+1} = -weight_k upper_k / b_k, weight_{first+1} = 1,
//
// the interior solution for x_first = x_last = 0 has g_{last-1} as its highest value and sum_k weight_k g_k as its
// lowest. These two turn the rows first and last into equations for the values at block boundaries alone.
//
// Each function works on `n` of `Lanes` neighbouring real numbers along x. The chain (bundle_chain.hpp, near_block.hpp)
// supplies rows and pivots, and takes the results:
//
//   up(action)        calls action(d, c) for each unknown, the lowest first
//   solve_up(action)  the same with action(d, c, kept); stores `kept`
//   down(action)      calls action(kept, c, x), the highest first, and stores x
//
// d, kept, x: indexed by lane. c: lower(r), upper(r), inverse(r) = 1 / pivot, weight(r) of the unknown.
#include <type_traits>

#include "core/device/parallel_for.hpp"
#include "poisson/tridiagonal/lines.hpp"

namespace sluice {

/// 1 / x. On a GPU in a single-precision build, accurate to 1.5e-14: one Newton step after a single-precision division,
/// because a double division would take as long as all other work on a row. x: within the range of float.
SLUICE_INLINE double reciprocal(double x) {
  if constexpr (!loops_on_gpu || sizeof(real) == sizeof(double)) {
    return 1 / x;
  } else {
    const double approximate = 1.0F / static_cast<float>(x);
    return approximate * multiply_add(-x, approximate, 2.0);
  }
}

/// What a chain adds to the equations of the unknowns below and above it: its highest and lowest values if those two
/// unknowns are 0.
template <int Lanes>
struct Eliminated {
  double highest[Lanes] = {};
  double lowest[Lanes] = {};

  /// The new right-hand sides of those equations, from the old ones, `d`; upper, lower: their coefficients towards the
  /// chain.
  SLUICE_INLINE double below(int r, double upper, double d) const { return multiply_add(-upper, lowest[r], d); }
  SLUICE_INLINE double above(int r, double lower, double d) const { return multiply_add(-lower, highest[r], d); }
};

template <int Lanes, class Chain, class Count>
SLUICE_INLINE Eliminated<Lanes> eliminate(Chain& chain, Count n) {
  Eliminated<Lanes> sums;
  chain.up([&](const auto& d, const auto& c) __attribute__((always_inline)) {
    SLUICE_UNROLL
    for (int r = 0; r < n; ++r) {
      sums.highest[r] = multiply_add(-c.lower(r), sums.highest[r], static_cast<double>(d[r])) * c.inverse(r);
      sums.lowest[r] = multiply_add(c.weight(r), sums.highest[r], sums.lowest[r]);
    }
  });
  return sums;
}

/// The same for chains that keep g of each unknown, by which the solution then needs no second pass upwards. The chain
/// has keep_up(action), which calls action(d, c, kept) and stores `kept`.
template <int Lanes, class Chain, class Count>
SLUICE_INLINE Eliminated<Lanes> eliminate_and_keep(Chain& chain, Count n) {
  Eliminated<Lanes> sums;
  chain.keep_up([&](const auto& d, const auto& c, auto&& kept) __attribute__((always_inline)) {
    SLUICE_UNROLL
    for (int r = 0; r < n; ++r) {
      sums.highest[r] = multiply_add(-c.lower(r), sums.highest[r], static_cast<double>(d[r])) * c.inverse(r);
      sums.lowest[r] = multiply_add(c.weight(r), sums.highest[r], sums.lowest[r]);
      kept[r] = static_cast<std::decay_t<decltype(kept[r])>>(sums.highest[r]);
    }
  });
  return sums;
}

/// Solves for the unknowns of a chain; those before and after it are known. Value: the type used in the arithmetic.
template <class Value, int Lanes, class Chain, class Before, class After, class Count>
SLUICE_INLINE void solve_between(Chain& chain, Count n, const Before& before, const After& after) {
  Value value[Lanes];
  SLUICE_UNROLL
  for (int r = 0; r < n; ++r) value[r] = before[r];
  chain.solve_up([&](const auto& d, const auto& c, auto&& kept) __attribute__((always_inline)) {
    SLUICE_UNROLL
    for (int r = 0; r < n; ++r) {
      value[r] = multiply_add(static_cast<Value>(-c.lower(r)), value[r], static_cast<Value>(d[r])) *
                 static_cast<Value>(c.inverse(r));
      kept[r] = static_cast<std::decay_t<decltype(kept[r])>>(value[r]);
    }
  });
  SLUICE_UNROLL
  for (int r = 0; r < n; ++r) value[r] = after[r];
  chain.down([&](const auto& kept, const auto& c, auto&& x) __attribute__((always_inline)) {
    SLUICE_UNROLL
    for (int r = 0; r < n; ++r) {
      const Value factor = static_cast<Value>(-c.upper(r)) * static_cast<Value>(c.inverse(r));
      value[r] = multiply_add(factor, value[r], static_cast<Value>(kept[r]));
      x[r] = static_cast<std::decay_t<decltype(x[r])>>(value[r]);
    }
  });
}

/// The same after eliminate_and_keep. The chain's down(action) supplies c.from_first(r), the value that x_first = -1
/// adds to g.
template <class Value, int Lanes, class Chain, class Before, class After, class Count>
SLUICE_INLINE void solve_kept_between(Chain& chain, Count n, const Before& before, const After& after) {
  Value value[Lanes];
  SLUICE_UNROLL
  for (int r = 0; r < n; ++r) value[r] = after[r];
  chain.down([&](const auto& kept, const auto& c, auto&& x) __attribute__((always_inline)) {
    SLUICE_UNROLL
    for (int r = 0; r < n; ++r) {
      const Value factor = static_cast<Value>(-c.upper(r)) * static_cast<Value>(c.inverse(r));
      const Value g = multiply_add(static_cast<Value>(-c.from_first(r)), static_cast<Value>(before[r]),
                                   static_cast<Value>(kept[r]));
      value[r] = multiply_add(factor, value[r], g);
      x[r] = static_cast<std::decay_t<decltype(x[r])>>(value[r]);
    }
  });
}

/// 0 for every lane.
struct Zeros {
  SLUICE_INLINE double operator[](int /*r*/) const { return 0; }
};

}  // namespace sluice
