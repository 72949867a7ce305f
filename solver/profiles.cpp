// Laminar and turbulent mean profiles for any pair of walls and any forcing.
#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include "solver/initial.hpp"

namespace sluice {

namespace {

/// Adds -V du/dz / nu, for fluid that passes at w = V from one wall to the other: the scheme's own flux, with the mean
/// of u on both sides of a face.
template <class Number>
void add_transpiration(const Grid& grid, const FlowParameters& flow, Number bottom, Number top, TridiagonalRows& rows,
                       std::vector<Number>& rhs) {
  const double v = flow.bottom.constant_velocity(2) / flow.viscosity;
  if (v == 0) return;
  const auto last = static_cast<std::int64_t>(rhs.size()) - 1;
  for (std::int64_t k = 0; k <= last; ++k) {
    const auto n = static_cast<std::size_t>(k);
    const double rate = v / (2 * grid.dz(k));
    if (k > 0) rows.lower[n] += rate;
    if (k < last) rows.upper[n] -= rate;
    // On a wall, the mean of u_k and its image is (dz u_wall + 2 l u_k) / (dz + 2 l) with the slip length l.
    const auto at_wall = [&](const WallCondition& wall, Number velocity, double sign) {
      const double slip = wall.slip_length / (grid.dz(k) / 2 + wall.slip_length);
      rows.diagonal[n] += sign * rate * (wall.drags() ? 1 - 2 * slip : -1);
      if (wall.drags()) rhs[n] += sign * 2 * rate * (1 - slip) * velocity;
    };
    if (k == 0) at_wall(flow.bottom, bottom, -1);
    if (k == last) at_wall(flow.top, top, 1);
  }
}

/// Solves nu Lz u - V du/dz = -nu source with these wall velocities; V: the uniform w of both walls.
std::vector<double> steady_profile(const Grid& grid, const FlowParameters& flow, double source, double bottom,
                                   double top) {
  const std::int64_t last = grid.cells()[2] - 1;
  std::vector<double> rhs(static_cast<std::size_t>(last) + 1, -source);
  if (flow.bottom.drags()) rhs.front() -= 2 * bottom / (grid.dz(0) * (grid.dz(0) + 2 * flow.bottom.slip_length));
  if (flow.top.drags()) rhs.back() -= 2 * top / (grid.dz(last) * (grid.dz(last) + 2 * flow.top.slip_length));
  TridiagonalRows rows = second_derivative_centers(grid.z_nodes(), row_of(flow.bottom), row_of(flow.top));
  add_transpiration(grid, flow, bottom, top, rows, rhs);
  return solve(rows, std::move(rhs));
}

using Complex = std::complex<double>;

/// Solves nu Lz q - 2 i Omega_z q = -source for q = u + i v with these wall velocities: the steady momentum equations
/// of a flow that depends on z alone, in a frame that rotates about z.
std::vector<Complex> steady_rotating_profile(const Grid& grid, const FlowParameters& flow, Complex source,
                                             Complex bottom, Complex top) {
  const std::int64_t last = grid.cells()[2] - 1;
  std::vector<Complex> rhs(static_cast<std::size_t>(last) + 1, -source / flow.viscosity);
  if (flow.bottom.drags()) rhs.front() -= 2.0 * bottom / (grid.dz(0) * (grid.dz(0) + 2 * flow.bottom.slip_length));
  if (flow.top.drags()) rhs.back() -= 2.0 * top / (grid.dz(last) * (grid.dz(last) + 2 * flow.top.slip_length));
  TridiagonalRows rows = second_derivative_centers(grid.z_nodes(), row_of(flow.bottom), row_of(flow.top));
  add_transpiration(grid, flow, bottom, top, rows, rhs);
  const Complex shift(0, -2 * flow.rotation.rate[2] / flow.viscosity);
  return solve(rows, shift, std::move(rhs));
}

Complex volume_mean(const std::vector<Complex>& profile, const Grid& grid) {
  Complex sum = 0;
  for (std::size_t k = 0; k < profile.size(); ++k) sum += profile[k] * grid.dz(static_cast<std::int64_t>(k));
  return sum / grid.length_z();
}

/// The laminar profile between walls of which one is no-slip, in a frame that rotates about z.
LaminarProfile rotating_laminar_profile(const Grid& grid, const FlowParameters& flow) {
  const auto velocity_of = [](const WallCondition& wall) {
    return Complex(wall.constant_velocity(0), wall.constant_velocity(1));
  };
  const Complex geostrophic(flow.rotation.geostrophic[0], flow.rotation.geostrophic[1]);
  Complex source = Complex(0, 2 * flow.rotation.rate[2]) * geostrophic;
  if (flow.forcing.kind == ForcingKind::pressure_gradient) source += flow.forcing.value.at_time(0);
  std::vector<Complex> q = steady_rotating_profile(grid, flow, source, velocity_of(flow.bottom), velocity_of(flow.top));
  if (flow.forcing.kind == ForcingKind::bulk_velocity) {
    const std::vector<Complex> driven = steady_rotating_profile(grid, flow, 1, 0, 0);
    const double missing = flow.forcing.value.at_time(0) - volume_mean(q, grid).real();
    for (std::size_t k = 0; k < q.size(); ++k) q[k] += missing / volume_mean(driven, grid).real() * driven[k];
  }
  LaminarProfile profile;
  for (const Complex& value : q) {
    profile.u.push_back(value.real());
    profile.v.push_back(value.imag());
  }
  return profile;
}

/// Reichardt's law of the wall (1951), with kappa = 0.4: U+ as a function of z+.
double reichardt(double z_plus) {
  return std::log(1 + 0.4 * z_plus) / 0.4 + 7.8 * (1 - std::exp(-z_plus / 11) - z_plus / 11 * std::exp(-0.33 * z_plus));
}

/// Finds the u_tau at which `velocity_at(u_tau)`, which increases with u_tau, reaches the target.
double solve_for_friction_velocity(double target, auto&& velocity_at) {
  double low = 0;
  double high = std::abs(target) + 1e-30;
  for (int n = 0; n < 100; ++n) {
    const double middle = (low + high) / 2;
    (velocity_at(middle) < std::abs(target) ? low : high) = middle;
  }
  return (low + high) / 2;
}

/// u_tau U+ at the distance to the nearer no-slip wall.
std::vector<double> wall_law(const Grid& grid, const FlowParameters& flow, double u_tau) {
  std::vector<double> u;
  for (std::int64_t k = 0; k < grid.cells()[2]; ++k) {
    const double below = flow.bottom.drags() ? grid.z_center(k) : grid.length_z();
    const double above = flow.top.drags() ? grid.length_z() - grid.z_center(k) : grid.length_z();
    u.push_back(u_tau * reichardt(std::min(below, above) * u_tau / flow.viscosity));
  }
  return u;
}

/// The part of the profile driven by the pressure gradient, with walls at rest.
TurbulentProfile driven_profile(const Grid& grid, const FlowParameters& flow, double target) {
  TurbulentProfile profile;
  if (flow.forcing.kind == ForcingKind::pressure_gradient) {
    const double walls = (flow.bottom.drags() ? 1 : 0) + (flow.top.drags() ? 1 : 0);
    profile.friction_velocity = std::sqrt(std::abs(flow.forcing.value.at_time(0)) * grid.length_z() / walls);
    target = flow.forcing.value.at_time(0);
  } else {
    profile.friction_velocity = solve_for_friction_velocity(
        target, [&](double u_tau) { return volume_mean(wall_law(grid, flow, u_tau), grid); });
  }
  profile.u = wall_law(grid, flow, profile.friction_velocity);
  if (target < 0) std::ranges::transform(profile.u, profile.u.begin(), std::negate());
  return profile;
}

}  // namespace

LaminarProfile laminar_profile(const Grid& grid, const FlowParameters& flow) {
  const auto nz = static_cast<std::size_t>(grid.cells()[2]);
  const bool bulk = flow.forcing.kind == ForcingKind::bulk_velocity;
  if (!flow.bottom.drags() && !flow.top.drags()) {
    const auto& [geostrophic_u, geostrophic_v] = flow.rotation.geostrophic;
    return {std::vector<double>(nz, bulk ? flow.forcing.value.at_time(0) : geostrophic_u),
            std::vector<double>(nz, geostrophic_v)};
  }
  if (flow.rotation.rate[2] != 0) return rotating_laminar_profile(grid, flow);
  const double drive =
      flow.forcing.kind == ForcingKind::pressure_gradient ? flow.forcing.value.at_time(0) / flow.viscosity : 0;
  LaminarProfile profile{
      steady_profile(grid, flow, drive, flow.bottom.constant_velocity(0), flow.top.constant_velocity(0)),
      steady_profile(grid, flow, 0, flow.bottom.constant_velocity(1), flow.top.constant_velocity(1))};
  if (bulk) {
    const std::vector<double> driven = steady_profile(grid, flow, 1, 0, 0);
    const double weight = (flow.forcing.value.at_time(0) - volume_mean(profile.u, grid)) / volume_mean(driven, grid);
    for (std::size_t k = 0; k < nz; ++k) profile.u[k] += weight * driven[k];
  }
  return profile;
}

TurbulentProfile turbulent_profile(const Grid& grid, const FlowParameters& flow) {
  const auto nz = static_cast<std::size_t>(grid.cells()[2]);
  if (flow.rotation.has_geostrophic()) {
    LaminarProfile laminar = laminar_profile(grid, flow);
    return {std::move(laminar.u), std::move(laminar.v),
            std::hypot(flow.rotation.geostrophic[0], flow.rotation.geostrophic[1]) / 20};
  }
  const double wall_mean = ((flow.bottom.drags() ? flow.bottom.constant_velocity(0) : flow.top.constant_velocity(0)) +
                            (flow.top.drags() ? flow.top.constant_velocity(0) : flow.bottom.constant_velocity(0))) /
                           2;
  const double half_difference = flow.bottom.drags() && flow.top.drags()
                                     ? (flow.top.constant_velocity(0) - flow.bottom.constant_velocity(0)) / 2
                                     : 0;
  const bool bulk = flow.forcing.kind == ForcingKind::bulk_velocity;
  if (!flow.bottom.drags() && !flow.top.drags()) {
    const double speed = bulk ? flow.forcing.value.at_time(0) : 1;
    return {std::vector<double>(nz, bulk ? flow.forcing.value.at_time(0) : 0), {}, std::abs(speed) / 20};
  }
  TurbulentProfile profile{std::vector<double>(nz, 0), {}, 0};
  if (flow.forcing.kind != ForcingKind::none)
    profile =
        driven_profile(grid, flow, bulk ? flow.forcing.value.at_time(0) - wall_mean : flow.forcing.value.at_time(0));
  for (double& u : profile.u) u += wall_mean;
  // Couette: law of the wall from each wall to the mean of both wall velocities in the middle
  if (half_difference != 0) {
    const double middle = grid.length_z() / 2;
    const double u_tau = solve_for_friction_velocity(
        half_difference, [&](double trial) { return trial * reichardt(middle * trial / flow.viscosity); });
    for (std::size_t k = 0; k < nz; ++k) {
      const double z = grid.z_center(static_cast<std::int64_t>(k));
      const double defect =
          std::abs(half_difference) - u_tau * reichardt(std::min(z, grid.length_z() - z) * u_tau / flow.viscosity);
      profile.u[k] += (z < middle ? -1 : 1) * std::copysign(1.0, half_difference) * defect;
    }
    profile.friction_velocity = std::max(profile.friction_velocity, u_tau);
  }
  return profile;
}

}  // namespace sluice
