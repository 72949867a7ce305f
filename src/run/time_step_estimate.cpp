#include "src/run/time_step_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "solver/forcing.hpp"
#include "solver/initial.hpp"
#include "solver/physics/terms.hpp"
#include "solver/time_step_limit.hpp"
#include "src/run/formula_check.hpp"

namespace sluice {

namespace {

double distance_to_wall(const Grid& grid, const FlowParameters& flow, std::int64_t k) {
  double distance = grid.length_z();
  if (flow.bottom.drags()) distance = grid.z_center(k);
  if (flow.top.drags()) distance = std::min(distance, grid.length_z() - grid.z_center(k));
  return distance;
}

/// Standard deviations of u, v and w over u_tau at this distance from a wall in wall units.
struct Intensities {
  explicit Intensities(double z_plus)
      : u(std::max(z_plus < 15 ? 0 : 0.9, 2.7 * z_plus / 15 * std::exp(1 - z_plus / 15))),
        v(1.08 * (1 - std::exp(-z_plus / 9))),
        w(0.9 * std::pow(1 - std::exp(-z_plus / 18), 2)) {}
  double u, v, w;
};

/// Largest magnitude of a component of a wall's velocity, relative to `reference`, as far as samples of it show.
double largest_velocity(const Grid& grid, const WallCondition& wall, std::size_t component, double reference) {
  const Formula velocity = wall.total_velocity(component);
  double largest = std::abs(velocity.constant() - reference);
  constexpr int points = 16;
  constexpr int times = 128;
  for (int n = 0; n < points * points * times && !velocity.is_constant(); ++n) {
    const int row = n / points % points;
    const int number = n / (points * points);
    const double x = grid.length_x() * (n % points) / points;
    const double y = grid.length_y() * row / points;
    const double t = 0.37 * number;  // h/U
    largest = std::max(largest, std::abs(velocity({.x = x, .y = y, .t = t}) - reference));
  }
  return largest;
}

/// The advective rate in the cells at a wall that moves or blows.
double rate_at_wall(const Grid& grid, const FlowParameters& flow, const WallCondition& wall, double dz) {
  const double kappa = largest_wavenumber(flow.order);
  return kappa * (largest_velocity(grid, wall, 0, grid.velocity()) / grid.dx() +
                  largest_velocity(grid, wall, 1, 0) / grid.dy()) +
         largest_velocity(grid, wall, 2, 0) / dz;
}

}  // namespace

TransitionReynolds transition_reynolds(const Grid& grid, const FlowParameters& flow) {
  const auto [along_x, along_y] = velocity_difference(flow.bottom, flow.top);
  const double difference = std::hypot(along_x, along_y);
  if (const auto layer = boundary_layer(flow))
    return {layer->reynolds_name, layer->reynolds, layer->lowest_unstable, 0, false};
  const bool driven_by_walls = flow.forcing.kind == ForcingKind::none && flow.bottom.drags() && flow.top.drags();
  if (driven_by_walls && difference > 0)
    return {"Re_w", difference / 2 * grid.length_z() / 2 / flow.viscosity, lowest_turbulent_re_wall,
            lowest_uniform_re_wall, false};
  return {"Re_tau", turbulent_profile(grid, flow).friction_velocity / flow.viscosity, lowest_turbulent_re_tau, 0, true};
}

bool is_two_dimensional(const Grid& grid) {
  return grid.cells()[0] == 1 || grid.cells()[1] == 1;
}

bool has_mean_flow(const Grid& grid, const FlowParameters& flow) {
  return turbulent_profile(grid, flow).friction_velocity > 0;
}

bool is_turbulent(const Grid& grid, const FlowParameters& flow) {
  if (is_two_dimensional(grid)) return false;
  const TransitionReynolds reynolds = transition_reynolds(grid, flow);
  return reynolds.value >= reynolds.threshold;
}

double expected_advective_rate(const Grid& grid, const FlowParameters& flow) {
  const double kappa = largest_wavenumber(flow.order);
  const bool turbulent = is_turbulent(grid, flow);
  const TurbulentProfile profile = turbulent_profile(grid, flow);
  const std::vector<double> u = turbulent ? profile.u : laminar_profile(grid, flow).u;
  const double u_tau = profile.friction_velocity;

  // Multiples of the standard deviations. Extreme values of w are rarer and larger near a wall, and all of them are
  // larger where a larger area of wall is observed.
  const double walls = (flow.bottom.drags() ? 1 : 0) + (flow.top.drags() ? 1 : 0);
  const double area_plus =
      std::max(1.0, walls) * grid.length_x() * grid.length_y() * std::pow(u_tau / flow.viscosity, 2);
  const double of_area = std::pow(area_plus / 3.5e6, 0.22);
  double largest = 0;
  for (std::int64_t k = 0; k < grid.cells()[2]; ++k) {
    double rate = kappa * std::abs(u[k] - grid.velocity()) / grid.dx();
    if (turbulent) {
      const double z_plus = distance_to_wall(grid, flow, k) * u_tau / flow.viscosity;
      const Intensities intensities(z_plus);
      const double of_w = 8.8 * (1 + 3.6 * std::exp(-z_plus / 9.7));
      rate += of_area * u_tau *
              std::hypot(4.3 * kappa * intensities.u / grid.dx(), 4.3 * kappa * intensities.v / grid.dy(),
                         of_w * intensities.w / grid.dz(k));
    }
    largest = std::max(largest, rate);
  }
  if (flow.bottom.is_actuated()) largest = std::max(largest, rate_at_wall(grid, flow, flow.bottom, grid.dz(0)));
  if (flow.top.is_actuated())
    largest = std::max(largest, rate_at_wall(grid, flow, flow.top, grid.dz(grid.cells()[2] - 1)));
  return largest / std::sqrt(3.0);
}

double initial_advective_rate(const Grid& grid, const FlowParameters& flow, const std::array<Formula, 3>& velocity) {
  const double kappa = largest_wavenumber(flow.order);
  constexpr int points = 48;
  double largest = 0;
  for (int n = 0; n < points * points * points; ++n) {
    const int row = n / points % points;
    const int plane = n / (points * points);
    const FormulaPoint at{.x = grid.length_x() * (n % points) / points,
                          .y = grid.length_y() * row / points,
                          .z = grid.length_z() * plane / points};
    largest = std::max(largest, kappa * std::abs(velocity[0](at) - grid.velocity()) / grid.dx() +
                                    kappa * std::abs(velocity[1](at)) / grid.dy() +
                                    std::abs(velocity[2](at)) / grid.dz_min());
  }
  return largest / std::sqrt(3.0);
}

ExpectedStep expected_step(const io::Case& settings, const Grid& grid) {
  const FlowParameters& flow = settings.flow;
  ExpectedStep step{.advective = flow.periodic_z ? initial_advective_rate(grid, flow, settings.initial.velocity)
                                                 : expected_advective_rate(grid, flow),
                    .diffusive = diffusive_rate(grid, flow),
                    .of_terms = term_rates(flow)};
  step.dt = settings.time.dt ? *settings.time.dt : settings.time.cfl.value_or(0) * step.limit();
  if (settings.time.dt_max) step.dt = std::min(step.dt, *settings.time.dt_max);
  return step;
}

double expected_end(const io::Case& settings, const Grid& grid) {
  if (settings.time.end) return *settings.time.end;
  io::Case at_begin = settings;
  at_begin.flow = with_typical_forcing(settings.flow, 0);
  return static_cast<double>(settings.time.steps.value_or(0)) * expected_step(at_begin, grid).dt;
}

ForcingRange forcing_range(const ForcingParameters& forcing, double end) {
  constexpr int count = 4096;
  ForcingRange range{forcing.value.at_time(0), forcing.value.at_time(0), 0};
  double sum = 0;
  double squares = 0;
  for (int n = 0; n < count; ++n) {
    const double value = forcing.value.at_time((n + 0.5) / count * end);
    range.least = std::min(range.least, value);
    range.greatest = std::max(range.greatest, value);
    sum += value;
    squares += value * value;
  }
  range.typical = std::copysign(std::sqrt(squares / count), sum);
  return range;
}

std::string table_warning(const std::string& axis, const ForcingParameters& forcing, double end) {
  const TimeTable& table = forcing.value.table();
  if (!forcing.value.is_table() || table.period > 0 || end <= table.times.back()) return {};
  return fmt::format(
      "the table of the forcing along {} ends at time {:g}, before the run, which ends at {:g}: its last "
      "value {:g} is kept from then on; add points, or a period",
      axis, table.times.back(), end, table.values.back());
}

FlowParameters with_typical_forcing(FlowParameters flow, double end) {
  for (ForcingParameters* forcing : {&flow.forcing, &flow.spanwise_forcing})
    if (!forcing->value.is_constant()) forcing->value = forcing_range(*forcing, end).typical;
  return flow;
}

std::string blow_up_advice(const io::Case& settings, const Grid& grid, double time, double dt) {
  constexpr double steps = 10;  // within which a value that is not finite is noticed
  const FormulaFindings found = check_formulas(settings, grid, std::max(0.0, time - steps * dt), time);
  for (const auto& list : {found.faults, found.failures})
    if (!list.empty()) return list.front();
  return fmt::format("use a smaller {}, or a finer grid", settings.time.dt ? "time.dt" : "time.cfl");
}

double gain_of(Diffusion diffusion, const Grid& grid, FlowParameters flow, double dt_limit) {
  const double rate = diffusive_rate(grid, flow);
  flow.diffusion = diffusion;
  return 1 / (1 - (rate - diffusive_rate(grid, flow)) * dt_limit);
}

std::optional<Diffusion> better_diffusion(const Grid& grid, const FlowParameters& flow, double dt_limit) {
  constexpr double worthwhile = 2;
  constexpr double worthwhile_in_all_directions = 8;  // a step takes about three times as long
  const double of_z = flow.periodic_z ? 1 : gain_of(Diffusion::implicit_z, grid, flow, dt_limit);
  const double of_all = gain_of(Diffusion::implicit, grid, flow, dt_limit);
  if (of_z > worthwhile) return Diffusion::implicit_z;
  if (of_all > worthwhile_in_all_directions) return Diffusion::implicit;
  return std::nullopt;
}

std::optional<GridVelocityAdvice> grid_velocity_advice(const Grid& grid, const FlowParameters& flow) {
  if (grid.velocity() != 0 || !is_turbulent(grid, flow)) return std::nullopt;
  const double bulk = volume_mean(turbulent_profile(grid, flow).u, grid);
  const double velocity = std::stod(fmt::format("{:.1g}", 0.6 * bulk));
  const Grid moving(grid.cells(), grid.length_x(), grid.length_y(), grid.z_nodes(), velocity);
  const double factor = expected_advective_rate(grid, flow) / expected_advective_rate(moving, flow);
  if (factor < 1.1) return std::nullopt;
  return GridVelocityAdvice{velocity, factor};
}

}  // namespace sluice
