#include "tests/support/rotating_channel.hpp"

#include "tests/support/chebyshev.hpp"
#include "tests/support/eigenvalue.hpp"

namespace sluice::test {

namespace {

/// rate B q = A q for q = (u, g) on the inner points, w = (1 - x^2) g, so that w and dw/dz are 0 on the walls:
///     rate u            = nu (D^2 - b^2) u - (dU/dz + f) w
///     rate (D^2 - b^2) w = nu (D^2 - b^2)^2 w - b^2 f u          f = 2 Omega_y
struct Eigenproblem {
  DenseMatrix a, b;
};

Eigenproblem eigenproblem(const RotatingChannel& channel, std::size_t intervals) {
  const std::size_t n = intervals - 1;
  const DenseMatrix d1 = chebyshev_derivative(intervals);
  const DenseMatrix d2 = d1 * d1, d3 = d2 * d1, d4 = d2 * d2;
  const double nu = channel.viscosity, f = channel.twice_rate;
  const double b2 = channel.wavenumber * channel.wavenumber;
  Eigenproblem problem{DenseMatrix(2 * n), DenseMatrix(2 * n)};
  for (std::size_t row = 0; row < n; ++row) {
    const double x = chebyshev_point(row + 1, intervals);
    for (std::size_t column = 0; column < n; ++column) {
      const auto at = [&](const DenseMatrix& m) { return m(row + 1, column + 1); };
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
  const Eigenproblem problem = eigenproblem(channel, count);
  const auto [rate, q] = nearest_eigenvalue(problem.a, problem.b, guess);

  Roll roll{rate, std::vector<double>(count + 1), {}, std::vector<double>(count + 1)};
  for (std::size_t n = 1; n < count; ++n) {
    const double x = chebyshev_point(n, count);
    roll.u[n] = q[n - 1];
    roll.w[n] = (1 - x * x) * q[count - 1 + n - 1];
  }
  roll.v = chebyshev_derivative(count) * roll.w;  // continuity: b v = -dw/dz
  for (double& v : roll.v) v /= -channel.wavenumber;
  return roll;
}

}  // namespace sluice::test
