#include "src/commands/check_physics.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "io/case/case.hpp"
#include "solver/initial.hpp"
#include "solver/physics/sources.hpp"
#include "solver/physics/terms.hpp"
#include "solver/walls/actuations.hpp"
#include "src/run/resolution_advice.hpp"
#include "src/run/time_step_estimate.hpp"

namespace sluice {

namespace {

std::string described(const ScalarWall& wall) {
  const std::string amount =
      wall.value.is_constant() ? fmt::format("{:g}", wall.value.constant()) : std::string(wall.value.text());
  return fmt::format("{} {}", wall.kind == ScalarWallKind::value ? "value" : "flux", amount);
}

bool has_value(const ScalarWall& wall) {
  return wall.kind == ScalarWallKind::value;
}

/// Whether the scalar has one and the same value everywhere and always.
bool is_uniform(const ScalarParameters& scalar, const io::InitialSpec& initial) {
  if (initial.kind == io::InitialKind::fields || initial.kind == io::InitialKind::checkpoint) return false;
  const auto is_tight = [](const ScalarWall& wall) { return !has_value(wall) && wall.value == Formula(0); };
  if (!source_of(scalar).is_zero(scalar) || (scalar.initial && !scalar.initial->is_constant())) return false;
  if (is_tight(scalar.bottom) && is_tight(scalar.top)) return true;
  const ScalarWall& first = has_value(scalar.bottom) ? scalar.bottom : scalar.top;
  const ScalarWall& second = has_value(scalar.bottom) ? scalar.top : scalar.bottom;
  const bool same_value = has_value(first) && first.value.is_constant() && (second == first || is_tight(second));
  return same_value && (!scalar.initial || scalar.initial->constant() == first.value.constant());
}

/// What walls of given flux and the source add to the mean of a scalar in time, if no wall has a value; else 0.
double drift(const ScalarParameters& scalar, double height) {
  const std::optional<double> from_source = source_of(scalar).constant_rate(scalar);
  if (!from_source || has_value(scalar.bottom) || has_value(scalar.top)) return 0;
  if (!scalar.bottom.value.is_constant() || !scalar.top.value.is_constant()) return 0;
  const double from_walls = (scalar.bottom.value.constant() + scalar.top.value.constant()) / height;
  const double rate = from_walls + *from_source;
  return std::abs(rate) > 1e-6 * std::abs(from_walls) ? rate : 0;
}

/// The largest ratio of a grid spacing to its limit for the scalar. The scalar's smallest eddies are smaller than the
/// eddies of the flow by the root of the Prandtl number.
double coarseness(const ScalarParameters& scalar, const Grid& grid, const FlowParameters& flow) {
  const double viscous_length = flow.viscosity / turbulent_profile(grid, flow).friction_velocity;
  double largest = 0;
  for (const Resolution& one : resolutions(grid, flow, viscous_length))
    largest = std::max(largest, one.spacing / one.limit);
  return largest * std::sqrt(scalar.prandtl);
}

void print_scalars(const io::Case& settings, const Grid& grid, Warnings& warnings) {
  const FlowParameters& flow = settings.flow;
  for (const ScalarParameters& scalar : flow.scalars) {
    fmt::print("scalar          {}: Pr {:g}, {}, {}\n", scalar.name, scalar.prandtl,
               flow.periodic_z
                   ? std::string("no walls")
                   : fmt::format("{} at the bottom, {} at the top", described(scalar.bottom), described(scalar.top)),
               source_of(scalar).text(scalar));
    if (is_uniform(scalar, settings.initial))
      warnings.add(
          fmt::format("the scalar {} stays the same everywhere: give its walls different values or a flux, or a source",
                      scalar.name));
    if (const double rate = drift(scalar, grid.length_z()); rate != 0)
      warnings.add(
          fmt::format("the mean of the scalar {} changes by {:.3g} per time unit and never settles: balance the fluxes "
                      "and the source, or take source: {{bulk_value: ...}}",
                      scalar.name, rate));
    if (scalar.prandtl > 1 && is_turbulent(grid, flow)) {
      const double factor = coarseness(scalar, grid, flow);
      if (verdict_on(factor, 1) != Verdict::fine)
        warnings.add(
            fmt::format("the grid is coarse for the scalar {}: with prandtl {:g} its smallest eddies are {:.2g} times "
                        "smaller than those of the flow, and the coarsest spacing is {:.2g} times too large",
                        scalar.name, scalar.prandtl, std::sqrt(scalar.prandtl), factor));
    }
  }
}

void print_lines(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) fmt::print("{}\n", line);
}

}  // namespace

void print_forcing(const std::string& axis, const ForcingParameters& forcing, double end, Warnings& warnings) {
  const bool usual = axis == "x" && forcing.kind != ForcingKind::power && forcing.value.is_constant();
  if (forcing.kind == ForcingKind::none || usual) return;
  if (forcing.value.is_constant()) {
    fmt::print("forcing along {} {} {:g}\n", axis, io::name(forcing.kind), forcing.value.constant());
    return;
  }
  const ForcingRange range = forcing_range(forcing, end);
  fmt::print(
      "forcing along {} {} from {:.4g} to {:.4g} until time {:g}; the forecasts below assume a constant value of "
      "{:.4g}, its root mean square\n",
      axis, io::name(forcing.kind), range.least, range.greatest, end, range.typical);
  if (const std::string warning = table_warning(axis, forcing, end); !warning.empty()) warnings.add(warning);
  if (forcing.kind == ForcingKind::power && range.least < 0)
    warnings.add("a negative power brakes the flow, and ends the run if it would stop it");
}

bool print_why_not_turbulent(const Grid& grid, const FlowParameters& flow, const io::InitialSpec& initial,
                             Warnings& warnings) {
  const bool starts_turbulent = initial.kind == io::InitialKind::turbulent;
  if (is_two_dimensional(grid)) {
    const char axis = grid.cells()[0] == 1 ? 'x' : 'y';
    fmt::print("flow            two-dimensional, with one cell along {}: not turbulent at any Reynolds number\n", axis);
    if (starts_turbulent)
      warnings.add(
          fmt::format("the turbulence of initial.type: turbulent will die out in a two-dimensional flow: take "
                      "initial.type: laminar, or more cells along {}",
                      axis));
    return true;
  }
  if (has_mean_flow(grid, flow)) return false;
  fmt::print("flow            neither a force nor a wall drives a mean flow along x\n");
  if (starts_turbulent && motion_of_terms(flow).empty())
    warnings.add(
        "the turbulence of initial.type: turbulent will die out, because nothing drives the flow: set flow.forcing, or "
        "velocities of the walls");
  return true;
}

void print_physics(const io::Case& settings, const Grid& grid, Warnings& warnings) {
  const FlowParameters& flow = settings.flow;
  print_lines(check_lines_of_walls(flow, grid, turbulent_profile(grid, flow).friction_velocity));
  const double u_tau = flow.periodic_z ? 0 : turbulent_profile(grid, flow).friction_velocity;
  const CheckedFlow checked{flow, grid, settings.flow_type == io::FlowType::couette, u_tau};
  print_lines(check_lines(checked, false));
  print_scalars(settings, grid, warnings);
  print_lines(check_lines(checked, true));
}

}  // namespace sluice
