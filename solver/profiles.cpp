// Laminar and turbulent mean profiles for any pair of walls and any forcing.
#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include "solver/initial.hpp"
#include "solver/physics/terms.hpp"

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

/// Solves nu Lz q + factor q = -source for q = u + i v with these wall velocities: the steady momentum equations of a
/// flow that depends on z alone, with terms that are linear in it.
std::vector<Complex> steady_coupled_profile(const Grid& grid, const FlowParameters& flow, Complex factor,
                                            Complex source, Complex bottom, Complex top) {
  const std::int64_t last = grid.cells()[2] - 1;
  std::vector<Complex> rhs(static_cast<std::size_t>(last) + 1, -source / flow.viscosity);
  if (flow.bottom.drags()) rhs.front() -= 2.0 * bottom / (grid.dz(0) * (grid.dz(0) + 2 * flow.bottom.slip_length));
  if (flow.top.drags()) rhs.back() -= 2.0 * top / (grid.dz(last) * (grid.dz(last) + 2 * flow.top.slip_length));
  TridiagonalRows rows = second_derivative_centers(grid.z_nodes(), row_of(flow.bottom), row_of(flow.top));
  add_transpiration(grid, flow, bottom, top, rows, rhs);
  return solve(rows, factor / flow.viscosity, std::move(rhs));
}

Complex volume_mean(const std::vector<Complex>& profile, const Grid& grid) {
  Complex sum = 0;
  for (std::size_t k = 0; k < profile.size(); ++k) sum += profile[k] * grid.dz(static_cast<std::int64_t>(k));
  return sum / grid.length_z();
}

/// The forces along x and y (imaginary) that follow from given means or a given power, where `mean` is that of the flow
/// without them and `response` that to a unit force along x. Given power: neglects the force along y that keeps <v>.
Complex further_force(const FlowParameters& flow, Complex mean, Complex response) {
  const bool x = flow.forcing.kind == ForcingKind::bulk_velocity;
  const bool y = flow.spanwise_forcing.kind == ForcingKind::bulk_velocity;
  const Complex missing = Complex(flow.forcing.value.at_time(0), flow.spanwise_forcing.value.at_time(0)) - mean;
  if (x && y) return missing / response;
  Complex force = 0;
  if (x) force = missing.real() / response.real();
  if (y) force = Complex(0, missing.imag() / response.real());
  if (flow.forcing.kind == ForcingKind::power)
    force += force_of_power(flow.forcing.value.at_time(0), (mean + force * response).real(), response.real());
  return force;
}

/// The laminar profile with terms that are linear in it, if a wall or such a term drags.
LaminarProfile coupled_laminar_profile(const Grid& grid, const FlowParameters& flow, const MeanOperator& terms) {
  const auto velocity_of = [](const WallCondition& wall) {
    return Complex(wall.constant_velocity(0), wall.constant_velocity(1));
  };
  Complex source = terms.source;
  const auto value_of = [](const ForcingParameters& forcing, ForcingKind kind) {
    return forcing.kind == kind ? forcing.value.at_time(0) : 0;
  };
  source += Complex(value_of(flow.forcing, ForcingKind::pressure_gradient),
                    value_of(flow.spanwise_forcing, ForcingKind::pressure_gradient));
  std::vector<Complex> q =
      steady_coupled_profile(grid, flow, terms.factor, source, velocity_of(flow.bottom), velocity_of(flow.top));
  const std::vector<Complex> driven = steady_coupled_profile(grid, flow, terms.factor, 1, 0, 0);
  const Complex force = further_force(flow, volume_mean(q, grid), volume_mean(driven, grid));
  for (std::size_t k = 0; k < q.size(); ++k) q[k] += force * driven[k];
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

/// Finds the u_tau between 0 and `high` at which `value_at(u_tau)`, which increases with u_tau, reaches the target.
double solve_for_friction_velocity(double target, double high, auto&& value_at) {
  double low = 0;
  for (int n = 0; n < 100; ++n) {
    const double middle = (low + high) / 2;
    (value_at(middle) < std::abs(target) ? low : high) = middle;
  }
  return (low + high) / 2;
}

/// The same for a velocity, which u_tau does not exceed.
double solve_for_friction_velocity(double target, auto&& velocity_at) {
  return solve_for_friction_velocity(target, std::abs(target) + 1e-30, velocity_at);
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

/// The rate at which terms brake the mean flow.
double drag_rate(const FlowParameters& flow) {
  return -mean_operator(flow).factor.real();
}

/// u_tau at which the force that balances the friction and the drag of terms has the given power.
double friction_velocity_of_power(const Grid& grid, const FlowParameters& flow, double power, double wall_mean,
                                  double force_length) {
  const auto power_at = [&](double u_tau) {
    const double mean = wall_mean + volume_mean(wall_law(grid, flow, u_tau), grid);
    return (u_tau * u_tau / force_length + drag_rate(flow) * mean) * mean;
  };
  double high = 1;
  while (power_at(high) < power) high *= 2;
  return solve_for_friction_velocity(power, high, power_at);
}

/// u_tau of a flow under this force. A force balances the friction and the drag of terms.
double friction_velocity_of_force(const Grid& grid, const FlowParameters& flow, double force, double force_length) {
  const double without_drag = std::sqrt(force * force_length);
  if (drag_rate(flow) == 0) return without_drag;
  const auto force_at = [&](double u_tau) {
    return u_tau * u_tau / force_length + drag_rate(flow) * volume_mean(wall_law(grid, flow, u_tau), grid);
  };
  return solve_for_friction_velocity(force, without_drag, force_at);
}

/// The part of the profile driven by the forcing, with walls at rest. `wall_mean`: the velocity that the walls add.
TurbulentProfile driven_profile(const Grid& grid, const FlowParameters& flow, double wall_mean) {
  TurbulentProfile profile;
  double target = flow.forcing.value.at_time(0);
  const double walls = (flow.bottom.drags() ? 1 : 0) + (flow.top.drags() ? 1 : 0);
  if (flow.forcing.kind == ForcingKind::pressure_gradient) {
    target -= drag_rate(flow) * wall_mean;
    profile.friction_velocity = friction_velocity_of_force(grid, flow, std::abs(target), grid.length_z() / walls);
  } else if (flow.forcing.kind == ForcingKind::power) {
    profile.friction_velocity = friction_velocity_of_power(grid, flow, target, wall_mean, grid.length_z() / walls);
  } else {
    target -= wall_mean;
    profile.friction_velocity = solve_for_friction_velocity(
        target, [&](double u_tau) { return volume_mean(wall_law(grid, flow, u_tau), grid); });
  }
  profile.u = wall_law(grid, flow, profile.friction_velocity);
  if (target < 0) std::ranges::transform(profile.u, profile.u.begin(), std::negate());
  return profile;
}

/// The laminar profile of u (axis 0) or v (1) for its forcing, without terms that are linear in it.
std::vector<double> laminar_component(const Grid& grid, const FlowParameters& flow, const ForcingParameters& forcing,
                                      std::size_t axis) {
  const auto nz = static_cast<std::size_t>(grid.cells()[2]);
  const bool bulk = forcing.kind == ForcingKind::bulk_velocity;
  const double value = forcing.value.at_time(0);
  if (!flow.bottom.drags() && !flow.top.drags())
    return std::vector<double>(nz, bulk ? value : mean_flow(flow).velocity_above.value_or(std::array{0.0, 0.0})[axis]);
  const double drive = forcing.kind == ForcingKind::pressure_gradient ? value / flow.viscosity : 0;
  std::vector<double> profile =
      steady_profile(grid, flow, drive, flow.bottom.constant_velocity(axis), flow.top.constant_velocity(axis));
  if (!bulk && forcing.kind != ForcingKind::power) return profile;
  const std::vector<double> driven = steady_profile(grid, flow, 1, 0, 0);
  const double by_walls = volume_mean(profile, grid);
  const double response = volume_mean(driven, grid);
  const double weight = bulk ? (value - by_walls) / response
                             : force_of_power(value, by_walls, response / flow.viscosity) / flow.viscosity;
  for (std::size_t k = 0; k < nz; ++k) profile[k] += weight * driven[k];
  return profile;
}

}  // namespace

LaminarProfile laminar_profile(const Grid& grid, const FlowParameters& flow) {
  const MeanOperator terms = mean_operator(flow);
  if ((terms.factor != 0.0 || terms.source != 0.0) &&
      (flow.bottom.drags() || flow.top.drags() || terms.factor.real() != 0))
    return coupled_laminar_profile(grid, flow, terms);
  const auto component = [&](const ForcingParameters& forcing, std::size_t axis) {
    return laminar_component(grid, flow, forcing, axis);
  };
  return {component(flow.forcing, 0), component(flow.spanwise_forcing, 1)};
}

TurbulentProfile turbulent_profile(const Grid& grid, const FlowParameters& flow) {
  const auto nz = static_cast<std::size_t>(grid.cells()[2]);
  if (const auto layer = boundary_layer(flow)) {
    LaminarProfile laminar = laminar_profile(grid, flow);
    return {std::move(laminar.u), std::move(laminar.v), layer->friction_velocity};
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
  if (flow.forcing.kind != ForcingKind::none) profile = driven_profile(grid, flow, wall_mean);
  if (flow.spanwise_forcing.kind == ForcingKind::bulk_velocity) profile.v = laminar_profile(grid, flow).v;
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

namespace {

/// u_tau at a wall with shear, from a profile and the velocity of the wall. distance: of the centre next to it.
double friction_velocity_at(const FlowParameters& flow, const WallCondition& wall, double distance, double u,
                            double v) {
  if (!wall.drags()) return 0;
  const double difference = std::hypot(u - wall.constant_velocity(0), v - wall.constant_velocity(1));
  return std::sqrt(flow.viscosity * difference / (distance + wall.slip_length));
}

}  // namespace

TurbulentProfile given_profile(const Grid& grid, const FlowParameters& flow, std::vector<double> u,
                               std::vector<double> v) {
  const auto v_at = [&](std::size_t k) { return v.empty() ? 0.0 : v[k]; };
  const std::size_t last = u.size() - 1;
  double friction_velocity = 0;
  if (flow.bottom.drags() || flow.top.drags()) {
    friction_velocity =
        std::max(friction_velocity_at(flow, flow.bottom, grid.dz(0) / 2, u[0], v_at(0)),
                 friction_velocity_at(flow, flow.top, grid.dz(grid.cells()[2] - 1) / 2, u[last], v_at(last)));
  } else {
    const auto [low, high] = std::ranges::minmax(u);
    double speed = 0;
    for (std::size_t k = 0; k <= last; ++k) speed = std::max(speed, std::hypot(u[k], v_at(k)));
    friction_velocity = (high > low ? high - low : speed) / 20;
  }
  return {std::move(u), std::move(v), friction_velocity};
}

}  // namespace sluice
