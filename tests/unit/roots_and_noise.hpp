#pragma once
// What transforms are tested against: roots of unity in long double, and noise to transform.
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "core/support/random.hpp"
#include "poisson/fft/small_dft.hpp"

namespace sluice {

using Exact = std::complex<long double>;

inline Exact root(int k, int n) {
  const long double angle = -2 * std::numbers::pi_v<long double> * k / n;
  return {std::cos(angle), std::sin(angle)};
}

/// root(k, n) for k = 0 ... n - 1
inline std::vector<Exact> roots(int n) {
  std::vector<Exact> all;
  for (int k = 0; k < n; ++k) all.push_back(root(k, n));
  return all;
}

inline ComplexPair rounded(Exact value) {
  return {static_cast<real>(value.real()), static_cast<real>(value.imag())};
}

inline Exact exact(ComplexPair value) {
  return {value.re, value.im};
}

inline double distance(Exact a, ComplexPair b) {
  return static_cast<double>(std::abs(a - exact(b)));
}

inline std::vector<ComplexPair> noise(int length) {
  std::vector<ComplexPair> values(static_cast<std::size_t>(length));
  for (std::size_t n = 0; n < values.size(); ++n) {
    values[n] = {static_cast<real>(uniform01(1, n) - 0.5), static_cast<real>(uniform01(2, n) - 0.5)};
  }
  return values;
}

}  // namespace sluice
