#include "poisson/tridiagonal/tridiagonal_rows.hpp"

#include <utility>

#include "core/support/error.hpp"

namespace sluice {

namespace {

std::vector<double> spacings(const std::vector<double>& nodes) {
  SLUICE_REQUIRE(nodes.size() >= 2, "a grid needs two faces or more");
  std::vector<double> dz(nodes.size() - 1);
  for (std::size_t k = 0; k < dz.size(); ++k) {
    dz[k] = nodes[k + 1] - nodes[k];
    SLUICE_REQUIRE(dz[k] > 0, "face coordinates must increase");
  }
  return dz;
}

TridiagonalRows zero_rows(std::size_t nz) {
  return {std::vector<double>(nz), std::vector<double>(nz), std::vector<double>(nz)};
}

}  // namespace

TridiagonalRows second_derivative_centers(const std::vector<double>& z_nodes, WallRow bottom, WallRow top) {
  const std::vector<double> dz = spacings(z_nodes);
  const std::size_t nz = dz.size();
  TridiagonalRows rows = zero_rows(nz);
  for (std::size_t k = 0; k < nz; ++k) {
    if (k > 0) rows.lower[k] = 2 / ((dz[k - 1] + dz[k]) * dz[k]);
    if (k + 1 < nz) rows.upper[k] = 2 / ((dz[k] + dz[k + 1]) * dz[k]);
    rows.diagonal[k] = -(rows.lower[k] + rows.upper[k]);
  }
  rows.diagonal.front() -= 2 / ((dz.front() + 2 * bottom.slip_length) * dz.front());
  rows.diagonal.back() -= 2 / ((dz.back() + 2 * top.slip_length) * dz.back());
  return rows;
}

TridiagonalRows second_derivative_faces(const std::vector<double>& z_nodes) {
  const std::vector<double> dz = spacings(z_nodes);
  const std::size_t nz = dz.size();
  TridiagonalRows rows = zero_rows(nz);
  for (std::size_t k = 0; k + 1 < nz; ++k) {
    const double between_centers = (dz[k] + dz[k + 1]) / 2;
    const double below = 1 / (dz[k] * between_centers);
    const double above = 1 / (dz[k + 1] * between_centers);
    if (k > 0) rows.lower[k] = below;
    if (k + 2 < nz) rows.upper[k] = above;
    rows.diagonal[k] = -(below + above);
  }
  return rows;
}

namespace {

template <class T>
std::vector<T> solve_shifted(const TridiagonalRows& rows, T shift, std::vector<T> rhs) {
  const std::size_t n = rows.diagonal.size();
  SLUICE_REQUIRE(rhs.size() == n, "a profile has one value for each plane");
  std::vector<T> inverse(n);
  for (std::size_t k = 0; k < n; ++k) {
    const T back = k > 0 ? rows.lower[k] * inverse[k - 1] : T(0);
    inverse[k] = T(1) / (rows.diagonal[k] + shift - (k > 0 ? back * rows.upper[k - 1] : T(0)));
    if (k > 0) rhs[k] -= back * rhs[k - 1];
  }
  for (std::size_t k = n; k-- > 0;) rhs[k] = (rhs[k] - (k + 1 < n ? rows.upper[k] * rhs[k + 1] : T(0))) * inverse[k];
  return rhs;
}

}  // namespace

std::vector<double> solve(const TridiagonalRows& rows, std::vector<double> rhs) {
  return solve_shifted(rows, 0.0, std::move(rhs));
}

std::vector<std::complex<double>> solve(const TridiagonalRows& rows, std::complex<double> shift,
                                        std::vector<std::complex<double>> rhs) {
  return solve_shifted(rows, shift, std::move(rhs));
}

}  // namespace sluice
