#pragma once
// Collocation at the points of Chebyshev, cos(pi n/intervals): from x = 1 to -1, or from z = 1 + x = 2 to 0.
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "tests/support/dense.hpp"

namespace sluice::test {

inline double chebyshev_point(std::size_t n, std::size_t intervals) {
  return std::cos(std::numbers::pi * static_cast<double>(n) / static_cast<double>(intervals));
}

/// Weight of a point in the barycentric formula.
inline double chebyshev_weight(std::size_t n, std::size_t intervals) {
  return (n % 2 == 0 ? 1.0 : -1.0) * (n == 0 || n == intervals ? 0.5 : 1.0);
}

/// The derivative at the points.
inline DenseMatrix chebyshev_derivative(std::size_t intervals) {
  DenseMatrix d(intervals + 1);
  for (std::size_t row = 0; row < d.n; ++row) {
    double sum = 0;
    for (std::size_t column = 0; column < d.n; ++column) {
      if (row == column) continue;
      d(row, column) = chebyshev_weight(column, intervals) / chebyshev_weight(row, intervals) /
                       (chebyshev_point(row, intervals) - chebyshev_point(column, intervals));
      sum += d(row, column);
    }
    d(row, row) = -sum;  // the derivative of a constant is 0
  }
  return d;
}

/// The polynomial through values at the points, at this z.
template <class T>
T interpolate(const std::vector<T>& values, double z) {
  const std::size_t intervals = values.size() - 1;
  T sum = 0;
  double weights = 0;
  for (std::size_t n = 0; n < values.size(); ++n) {
    const double distance = z - 1 - chebyshev_point(n, intervals);
    if (distance == 0) return values[n];
    sum += chebyshev_weight(n, intervals) / distance * values[n];
    weights += chebyshev_weight(n, intervals) / distance;
  }
  return sum / weights;
}

}  // namespace sluice::test
