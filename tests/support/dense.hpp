#pragma once
// Dense linear algebra for tests: a known right answer for small systems.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace sluice::test {

/// A square matrix, by rows.
struct DenseMatrix {
  explicit DenseMatrix(std::size_t size) : n(size), values(size * size) {}
  double& operator()(std::size_t row, std::size_t column) { return values[row * n + column]; }

  std::size_t n;
  std::vector<double> values;
};

/// Gaussian elimination with partial pivoting.
inline std::vector<double> solve_dense(DenseMatrix a, std::vector<double> b) {
  const std::size_t n = a.n;
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column; row < n; ++row) {
      if (std::abs(a(row, column)) > std::abs(a(pivot, column))) pivot = row;
    }
    for (std::size_t c = 0; c < n; ++c) std::swap(a(pivot, c), a(column, c));
    std::swap(b[pivot], b[column]);
    for (std::size_t row = column + 1; row < n; ++row) {
      const double factor = a(row, column) / a(column, column);
      if (factor == 0) continue;
      for (std::size_t c = column; c < n; ++c) a(row, c) -= factor * a(column, c);
      b[row] -= factor * b[column];
    }
  }
  for (std::size_t row = n; row-- > 0;) {
    for (std::size_t c = row + 1; c < n; ++c) b[row] -= a(row, c) * b[c];
    b[row] /= a(row, row);
  }
  return b;
}

inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t n = 0; n < a.size(); ++n) largest = std::max(largest, std::abs(a[n] - b[n]));
  return largest;
}

inline double largest(const std::vector<double>& a) {
  return largest_difference(a, std::vector<double>(a.size()));
}

}  // namespace sluice::test
