#pragma once
// One eigenvalue of a dense problem  value b q = a q,  real or complex, by inverse iteration.
#include <cmath>
#include <complex>
#include <type_traits>
#include <vector>

#include "core/support/error.hpp"
#include "tests/support/dense.hpp"

namespace sluice::test {

template <class T>
struct Eigenpair {
  T value;
  std::vector<T> vector;  ///< of length 1
};

/// The eigenvalue nearest to `guess`.
template <class T>
Eigenpair<T> nearest_eigenvalue(const SquareMatrix<T>& a, const SquareMatrix<T>& b, T guess) {
  const auto dot = [](const std::vector<T>& left, const std::vector<T>& right) {
    T sum = 0;
    for (std::size_t n = 0; n < left.size(); ++n) {
      if constexpr (std::is_same_v<T, double>) {
        sum += left[n] * right[n];
      } else {
        sum += std::conj(left[n]) * right[n];
      }
    }
    return sum;
  };
  SquareMatrix<T> shifted = a;
  for (std::size_t n = 0; n < shifted.values.size(); ++n) shifted.values[n] -= guess * b.values[n];
  const LuMatrix<T> inverse(std::move(shifted));

  Eigenpair<T> found{guess, std::vector<T>(a.n)};
  std::vector<T>& q = found.vector;
  for (std::size_t n = 0; n < q.size(); ++n) q[n] = 1 + 0.1 * static_cast<double>(n % 7);
  double change = 1;
  for (int iteration = 0; iteration < 100 && change > 1e-13; ++iteration) {
    std::vector<T> next = inverse.solve(b * q);
    const T value = guess + dot(q, q) / dot(q, next);
    change = std::abs(value - found.value);
    found.value = value;
    const double size = std::sqrt(std::abs(dot(next, next)));
    for (std::size_t n = 0; n < q.size(); ++n) q[n] = next[n] / size;
  }
  SLUICE_REQUIRE(change <= 1e-10, "inverse iteration did not converge");
  return found;
}

}  // namespace sluice::test
