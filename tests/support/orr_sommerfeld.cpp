#include "tests/support/orr_sommerfeld.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "tests/support/eigenvalue.hpp"

namespace sluice::test {

namespace {

using Complex = std::complex<double>;
using Vector = std::vector<Complex>;

/// The differences along x acting on exp(i a x): each is a number.
struct ModifiedWavenumbers {
  double squared;    ///< of the second difference: -squared
  double staggered;  ///< of the difference between neighbours: i staggered
  double carried;    ///< of the flux of a wave that a uniform velocity carries: i carried
  double carrying;   ///< of the flux of a uniform field that the wave carries: i carrying
  double average;    ///< of the interpolation between neighbours
};

ModifiedWavenumbers modified(const Grid& grid, Order order) {
  const double phase = std::numbers::pi / static_cast<double>(grid.cells()[0]);  // a dx / 2
  const double dx = grid.dx();
  if (order == Order::second) {
    const double staggered = 2 * std::sin(phase) / dx;
    return {staggered * staggered, staggered, std::sin(2 * phase) / dx, std::sin(2 * phase) / dx, std::cos(phase)};
  }
  const double staggered = (9.0 / 4 * std::sin(phase) - std::sin(3 * phase) / 12) / dx;
  const double average = 9.0 / 8 * std::cos(phase) - std::cos(3 * phase) / 8;
  return {staggered * staggered, staggered, (9.0 / 8 * std::sin(2 * phase) - std::sin(6 * phase) / 24) / dx,
          staggered * average, average};
}

/// The discrete velocity of a streamfunction on the inner z faces, and the curl of a tendency there, which
/// knows no pressure.
class StreamFunction {
 public:
  StreamFunction(const Grid& grid, const std::vector<double>& base, double viscosity, Order order)
      : grid_(&grid), base_(&base), viscosity_(viscosity), m_(modified(grid, order)), nz_(grid.cells()[2]) {}

  std::int64_t unknowns() const { return nz_ - 1; }

  /// u = dpsi/dz, w = -dpsi/dx; psi = 0 on the walls.
  EigenMode velocity(const Vector& psi) const {
    EigenMode mode{0, Vector(static_cast<std::size_t>(nz_)), Vector(static_cast<std::size_t>(nz_))};
    for (std::int64_t k = 0; k < nz_; ++k) {
      const auto n = static_cast<std::size_t>(k);
      mode.u[n] = (face(psi, k) - face(psi, k - 1)) / grid_->dz(k);
      mode.w[n] = -Complex(0, m_.staggered) * face(psi, k);
    }
    return mode;
  }

  /// du/dz - dw/dx on the inner faces.
  Vector curl(const Vector& u, const Vector& w) const {
    Vector result(static_cast<std::size_t>(unknowns()));
    for (std::size_t k = 0; k < result.size(); ++k) {
      result[k] = (u[k + 1] - u[k]) / grid_->dz_center(static_cast<std::int64_t>(k)) - Complex(0, m_.staggered) * w[k];
    }
    return result;
  }

  /// The linearised tendency of u: -2 U du/dx (U carries u, and u carries U) - d(U w)/dz + nu lap u.
  Vector tendency_u(const EigenMode& q) const {
    Vector r(q.u.size());
    const auto u_at = [&](std::int64_t k) {
      return k < 0 ? -q.u.front() : k >= nz_ ? -q.u.back() : q.u[static_cast<std::size_t>(k)];
    };
    const auto flux = [&](std::int64_t k) {  // U w on the edge, 0 on the walls
      if (k < 0 || k + 1 >= nz_) return Complex(0);
      const auto n = static_cast<std::size_t>(k);
      return ((*base_)[n] + (*base_)[n + 1]) / 2 * m_.average * q.w[n];
    };
    for (std::int64_t k = 0; k < nz_; ++k) {
      const auto n = static_cast<std::size_t>(k);
      const Complex second =
          ((u_at(k + 1) - u_at(k)) / grid_->dz_center(k) - (u_at(k) - u_at(k - 1)) / grid_->dz_center(k - 1)) /
          grid_->dz(k);
      r[n] = -(*base_)[n] * Complex(0, m_.carried + m_.carrying) * q.u[n] - (flux(k) - flux(k - 1)) / grid_->dz(k) +
             viscosity_ * (second - m_.squared * q.u[n]);
    }
    return r;
  }

  /// The linearised tendency of w on the inner faces: -U dw/dx + nu lap w.
  Vector tendency_w(const EigenMode& q) const {
    Vector r(q.w.size());
    const auto w_at = [&](std::int64_t k) {
      return k < 0 || k + 1 >= nz_ ? Complex(0) : q.w[static_cast<std::size_t>(k)];
    };
    for (std::int64_t k = 0; k + 1 < nz_; ++k) {
      const auto n = static_cast<std::size_t>(k);
      const double carried =
          (grid_->dz(k) * (*base_)[n] + grid_->dz(k + 1) * (*base_)[n + 1]) / (2 * grid_->dz_center(k));
      const Complex second =
          ((w_at(k + 1) - w_at(k)) / grid_->dz(k + 1) - (w_at(k) - w_at(k - 1)) / grid_->dz(k)) / grid_->dz_center(k);
      r[n] = -carried * Complex(0, m_.carried) * q.w[n] + viscosity_ * (second - m_.squared * q.w[n]);
    }
    return r;
  }

 private:
  Complex face(const Vector& psi, std::int64_t k) const {
    return k < 0 || k >= unknowns() ? Complex(0) : psi[static_cast<std::size_t>(k)];
  }

  const Grid* grid_;
  const std::vector<double>* base_;
  double viscosity_;
  ModifiedWavenumbers m_;
  std::int64_t nz_;
};

}  // namespace

EigenMode nearest_mode(const Grid& grid, const std::vector<double>& base, double viscosity, Complex guess,
                       Order order) {
  // rate M psi = A psi with M psi = curl(velocity(psi)) and A psi = curl(tendency(velocity(psi))).
  const StreamFunction operators(grid, base, viscosity, order);
  const auto n = static_cast<std::size_t>(operators.unknowns());
  SquareMatrix<Complex> a(n), m(n);
  for (std::size_t column = 0; column < n; ++column) {
    Vector unit(n);
    unit[column] = 1;
    const EigenMode q = operators.velocity(unit);
    const Vector tendency = operators.curl(operators.tendency_u(q), operators.tendency_w(q));
    const Vector vorticity = operators.curl(q.u, q.w);
    for (std::size_t row = 0; row < n; ++row) {
      a(row, column) = tendency[row];
      m(row, column) = vorticity[row];
    }
  }
  const auto [rate, psi] = nearest_eigenvalue(a, m, guess);
  EigenMode mode = operators.velocity(psi);
  mode.rate = rate;
  double largest = 0;
  for (const Complex& u : mode.u) largest = std::max(largest, std::abs(u));
  for (Vector* component : {&mode.u, &mode.w}) {
    for (Complex& value : *component) value /= largest;
  }
  return mode;
}

}  // namespace sluice::test
