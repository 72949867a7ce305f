// The mean force along x or y that holds the bulk velocity, is given, or has a given power. A substep asks for it after
// the Poisson equation, and the correction adds it.
#include "solver/forcing.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "core/support/error.hpp"

namespace sluice {

double force_of_power(double power, double mean, double slope) {
  // Of the two roots f of slope f^2 + mean f = power, the one that tends to power / mean as slope goes to 0.
  return 2 * power / (mean + std::sqrt(mean * mean + 4 * slope * power));
}

void MeanForce::add(double weight, const MeanForce& other) {
  x += weight * other.x;
  y += weight * other.y;
  power += weight * other.power;
}

std::vector<NamedValue> further_forcing(const FlowParameters& flow, const MeanForce& force) {
  std::vector<NamedValue> values;
  if (flow.forcing.kind == ForcingKind::power) values.push_back({"power", force.power});
  if (flow.spanwise_forcing.kind != ForcingKind::none) values.push_back({"forcing_y", force.y});
  return values;
}

Forcing::Forcing(const ForcingParameters& parameters, std::string key, const Grid& grid, MPI_Comm comm)
    : parameters_(parameters), key_(std::move(key)), grid_(&grid), comm_(comm) {}

void Forcing::set(double value) {
  const bool is_power = parameters_.kind == ForcingKind::power;
  if (!std::isfinite(value) || (is_power && value <= 0)) {
    throw Error(ExitCode::usage, fmt::format("{}: the value {:g} is not allowed; it must be finite{}", key_, value,
                                             is_power ? " and > 0" : ""));
  }
  if (parameters_.kind == ForcingKind::none) parameters_.kind = ForcingKind::pressure_gradient;
  parameters_.value = value;
}

double Forcing::given(double time) const {
  const double value = parameters_.value.at_time(time);
  if (std::isfinite(value)) return value;
  throw Error(ExitCode::numerics,
              fmt::format("{}: {} is not finite at time {:g}; give a formula that is finite at all times of the run",
                          key_, parameters_.value.text(), time));
}

void Forcing::require_finite(const Substep& substep) const {
  if (parameters_.kind == ForcingKind::none || parameters_.value.is_constant()) return;
  given(parameters_.kind == ForcingKind::bulk_velocity ? substep.end() : substep.start());
}

Forcing::Result Forcing::force(const Deferred<ExactSum>& star_sum, const Substep& substep,
                               const UniformResponse& response) {
  const TimeFunction& value = parameters_.value;
  switch (parameters_.kind) {
    case ForcingKind::none:
      break;
    case ForcingKind::pressure_gradient:
      if (value.is_constant()) return {value.constant()};
      return {substep.mean_of([&](double time) { return given(time); })};
    case ForcingKind::bulk_velocity: {
      const double target = value.is_constant() ? value.constant() : given(substep.end());
      return {response.strength(target - volume_mean(star_sum.value(), *grid_, comm_), substep.length())};
    }
    case ForcingKind::power:
      return force_of_given_power(volume_mean(star_sum.value(), *grid_, comm_), substep, response);
  }
  return {};
}

Forcing::Result Forcing::force_of_given_power(double mean_star, const Substep& substep,
                                              const UniformResponse& response) {
  const double power = substep.mean_of([&](double time) { return given(time); });
  const double before = mean_;
  const double mean = (before + mean_star) / 2;
  if (!(mean > 0)) {
    throw Error(ExitCode::numerics,
                fmt::format("{}: the mean velocity along x is {:g} at time {:g}, but a force of given power needs a "
                            "positive one: start from a flow that has it (initial.type: laminar or turbulent), or give "
                            "bulk_velocity or pressure_gradient instead",
                            key_, mean, substep.start()));
  }
  const double gain = substep.length() * response.mean();  // of the mean velocity by a unit force
  const double force = force_of_power(power, mean, gain / 2);
  if (!std::isfinite(force)) {
    throw Error(ExitCode::numerics,
                fmt::format("{}: no force takes the power {:g} from the mean velocity {:g} at time {:g}: it would stop "
                            "the flow; give a larger power",
                            key_, power, mean, substep.start()));
  }
  mean_ = mean_star + gain * force;
  return {force, force * (before + mean_) / 2};
}

}  // namespace sluice
