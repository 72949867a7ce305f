#include "tests/support/rotating_channel.hpp"

#include <cmath>
#include <numbers>

#include "core/support/error.hpp"
#include "tests/support/dense.hpp"

namespace sluice::test {

namespace {

double point(std::size_t n, std::size_t intervals) {
  return std::cos(std::numbers::pi * static_cast<double>(n) / static_cast<double>(intervals));
}

/// Weight of a point in the barycentric formula.
double weight(std::size_t n, std::size_t intervals) {
  return (n % 2 == 0 ? 1.0 : -1.0) * (n == 0 || n == intervals ? 0.5 : 1.0);
}

/// The derivative at the points of Chebyshev.
DenseMatrix derivative(std::size_t intervals) {
  DenseMatrix d(intervals + 1);
  for (std::size_t row = 0; row < d.n; ++row) {
    double sum = 0;
    for (std::size_t column = 0; column < d.n; ++column) {
      if (row == column) continue;
      d(row, column) =
          weight(column, intervals) / weight(row, intervals) / (point(row, intervals) - point(column, intervals));
      sum += d(row, column);
    }
    d(row, row) = -sum;  // the derivative of a constant is 0
  }
  return d;
}

DenseMatrix product(DenseMatrix a, DenseMatrix b) {
  DenseMatrix c(a.n);
  for (std::size_t row = 0; row < c.n; ++row) {
    for (std::size_t inner = 0; inner < c.n; ++inner) {
      for (std::size_t column = 0; column < c.n; ++column) c(row, column) += a(row, inner) * b(inner, column);
    }
  }
  return c;
}

std::vector<double> times(DenseMatrix a, const std::vector<double>& x) {
  std::vector<double> y(a.n);
  for (std::size_t row = 0; row < a.n; ++row) {
    for (std::size_t column = 0; column < a.n; ++column) y[row] += a(row, column) * x[column];
  }
  return y;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t n = 0; n < a.size(); ++n) sum += a[n] * b[n];
  return sum;
}

/// rate B q = A q for q = (u, g) on the inner points, w = (1 - x^2) g, so that w and dw/dz are 0 on the walls:
///     rate u            = nu (D^2 - b^2) u - (dU/dz + f) w
///     rate (D^2 - b^2) w = nu (D^2 - b^2)^2 w - b^2 f u          f = 2 Omega_y
struct Eigenproblem {
  DenseMatrix a, b;
};

Eigenproblem eigenproblem(const RotatingChannel& channel, std::size_t intervals) {
  const std::size_t n = intervals - 1;
  DenseMatrix d1 = derivative(intervals);
  DenseMatrix d2 = product(d1, d1), d3 = product(d2, d1), d4 = product(d2, d2);
  const double nu = channel.viscosity, f = channel.twice_rate;
  const double b2 = channel.wavenumber * channel.wavenumber;
  Eigenproblem problem{DenseMatrix(2 * n), DenseMatrix(2 * n)};
  for (std::size_t row = 0; row < n; ++row) {
    const double x = point(row + 1, intervals);
    for (std::size_t column = 0; column < n; ++column) {
      const auto at = [&](DenseMatrix& m) { return m(row + 1, column + 1); };
      const double unit = row == column ? 1 : 0;
      const double w = (1 - x * x) * unit;
      const double w2 = (1 - x * x) * at(d2) - 4 * x * at(d1) - 2 * unit;
      const double w4 = (1 - x * x) * at(d4) - 8 * x * at(d3) - 12 * at(d2);
      problem.a(row, column) = nu * (at(d2) - b2 * unit);
      problem.a(row, n + column) = -(channel.shear(1 + x) + f) * w;
      problem.a(n + row, column) = -b2 * f * unit;
      problem.a(n + row, n + column) = nu * (w4 - 2 * b2 * w2 + b2 * b2 * w);
      problem.b(row, column) = unit;
      problem.b(n + row, n + column) = w2 - b2 * w;
    }
  }
  return problem;
}

}  // namespace

Roll nearest_roll(const RotatingChannel& channel, double guess, int intervals) {
  const auto count = static_cast<std::size_t>(intervals);
  Eigenproblem problem = eigenproblem(channel, count);
  DenseMatrix shifted = problem.a;
  for (std::size_t n = 0; n < shifted.values.size(); ++n) shifted.values[n] -= guess * problem.b.values[n];

  std::vector<double> q(shifted.n);  // inverse iteration
  for (std::size_t n = 0; n < q.size(); ++n) q[n] = 1 + 0.1 * static_cast<double>(n % 7);
  double rate = guess;
  double change = 1;
  for (int iteration = 0; iteration < 100 && change > 1e-12; ++iteration) {
    std::vector<double> next = solve_dense(shifted, times(problem.b, q));
    const double found = guess + dot(q, q) / dot(q, next);
    change = std::abs(found - rate);
    rate = found;
    const double size = std::sqrt(dot(next, next));
    for (std::size_t n = 0; n < q.size(); ++n) q[n] = next[n] / size;
  }
  SLUICE_REQUIRE(change <= 1e-10, "inverse iteration did not converge");

  Roll roll{rate, std::vector<double>(count + 1), {}, std::vector<double>(count + 1)};
  for (std::size_t n = 1; n < count; ++n) {
    const double x = point(n, count);
    roll.u[n] = q[n - 1];
    roll.w[n] = (1 - x * x) * q[count - 1 + n - 1];
  }
  roll.v = times(derivative(count), roll.w);  // continuity: b v = -dw/dz
  for (double& v : roll.v) v /= -channel.wavenumber;
  return roll;
}

double interpolate(const std::vector<double>& values, double z) {
  const std::size_t intervals = values.size() - 1;
  double sum = 0, weights = 0;
  for (std::size_t n = 0; n < values.size(); ++n) {
    const double distance = z - 1 - point(n, intervals);
    if (distance == 0) return values[n];
    sum += weight(n, intervals) / distance * values[n];
    weights += weight(n, intervals) / distance;
  }
  return sum / weights;
}

}  // namespace sluice::test
