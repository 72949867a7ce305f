#pragma once
// Dense linear algebra for tests: a known right answer for small systems.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace sluice::test {

/// A square matrix, by rows, of real or complex numbers.
template <class T>
struct SquareMatrix {
  explicit SquareMatrix(std::size_t size) : n(size), values(size * size) {}
  T& operator()(std::size_t row, std::size_t column) { return values[row * n + column]; }
  const T& operator()(std::size_t row, std::size_t column) const { return values[row * n + column]; }

  std::size_t n;
  std::vector<T> values;
};
using DenseMatrix = SquareMatrix<double>;

template <class T>
std::vector<T> operator*(const SquareMatrix<T>& a, const std::vector<T>& x) {
  std::vector<T> y(a.n);
  for (std::size_t row = 0; row < a.n; ++row) {
    for (std::size_t column = 0; column < a.n; ++column) y[row] += a(row, column) * x[column];
  }
  return y;
}

template <class T>
SquareMatrix<T> operator*(const SquareMatrix<T>& a, const SquareMatrix<T>& b) {
  SquareMatrix<T> c(a.n);
  for (std::size_t row = 0; row < c.n; ++row) {
    for (std::size_t inner = 0; inner < c.n; ++inner) {
      for (std::size_t column = 0; column < c.n; ++column) c(row, column) += a(row, inner) * b(inner, column);
    }
  }
  return c;
}

/// Gaussian elimination with partial pivoting, for one right-hand side after the other.
template <class T>
class LuMatrix {
 public:
  explicit LuMatrix(SquareMatrix<T> matrix) : a_(std::move(matrix)), pivots_(a_.n) {
    for (std::size_t column = 0; column < a_.n; ++column) {
      std::size_t& pivot = pivots_[column] = column;
      for (std::size_t row = column; row < a_.n; ++row) {
        if (std::abs(a_(row, column)) > std::abs(a_(pivot, column))) pivot = row;
      }
      for (std::size_t c = 0; c < a_.n; ++c) std::swap(a_(pivot, c), a_(column, c));
      for (std::size_t row = column + 1; row < a_.n; ++row) {
        const T factor = a_(row, column) /= a_(column, column);
        if (factor == T(0)) continue;
        for (std::size_t c = column + 1; c < a_.n; ++c) a_(row, c) -= factor * a_(column, c);
      }
    }
  }

  std::vector<T> solve(std::vector<T> b) const {
    for (std::size_t row = 0; row < a_.n; ++row) std::swap(b[row], b[pivots_[row]]);
    for (std::size_t row = 0; row < a_.n; ++row) {
      for (std::size_t c = 0; c < row; ++c) b[row] -= a_(row, c) * b[c];
    }
    for (std::size_t row = a_.n; row-- > 0;) {
      for (std::size_t c = row + 1; c < a_.n; ++c) b[row] -= a_(row, c) * b[c];
      b[row] /= a_(row, row);
    }
    return b;
  }

 private:
  SquareMatrix<T> a_;
  std::vector<std::size_t> pivots_;
};

inline std::vector<double> solve_dense(DenseMatrix a, std::vector<double> b) {
  return LuMatrix<double>(std::move(a)).solve(std::move(b));
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
