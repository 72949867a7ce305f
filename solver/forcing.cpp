// The mean force along x or y that holds the bulk velocity, is given, or has a given power. A substep asks for it after
// the Poisson equation, and the correction adds it.
#include "solver/forcing.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "core/device/parallel_for.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice {

double force_of_power(double power, double mean, double slope) {
  // Of the two roots f of slope f^2 + mean f = power, the one that tends to power / mean as slope goes to 0.
  return 2 * power / (mean + std::sqrt(mean * mean + 4 * slope * power));
}

namespace {

/// The force that holds the bulk velocity. One cell.
struct HoldBulkVelocity {
  const ExactSum* star_sum;
  double weight;  ///< of all cells in the sum
  double target, gain, gamma_dt;
  double* force;
  real* impulse;
  SLUICE_INLINE void operator()(int /*i*/, int /*j*/, int /*k*/) const {
    const double found = (target - star_sum->value() / weight) / gain;
    *force = found;
    *impulse = static_cast<real>(gamma_dt * found);
  }
};

/// One cell.
struct SetImpulse {
  real value;
  real* impulse;
  SLUICE_INLINE void operator()(int /*i*/, int /*j*/, int /*k*/) const { *impulse = value; }
};

constexpr Box3 one_cell{{0, 0, 0}, {1, 1, 1}};

}  // namespace

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
    : parameters_(parameters),
      key_(std::move(key)),
      grid_(&grid),
      comm_(comm),
      forces_(static_cast<double*>(device::allocate_host(Rk3::substeps * sizeof(double)))) {}

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

bool Forcing::needs_sum_on_host() const {
  return parameters_.kind == ForcingKind::power ||
         (parameters_.kind == ForcingKind::bulk_velocity && size_of(comm_) > 1);
}

double Forcing::target(const Substep& substep) const {
  return parameters_.value.is_constant() ? parameters_.value.constant() : given(substep.end());
}

void Forcing::require_finite(const Substep& substep) const {
  if (parameters_.kind == ForcingKind::none || parameters_.value.is_constant()) return;
  given(parameters_.kind == ForcingKind::bulk_velocity ? substep.end() : substep.start());
}

void Forcing::find(const DeferredSum& star_sum, const Substep& substep, const UniformResponse& response,
                   real* impulse) {
  const auto n = static_cast<std::size_t>(substep.k);
  const double gamma_dt = substep.length();
  if (parameters_.kind == ForcingKind::bulk_velocity && !needs_sum_on_host()) {
    parallel_for("mean force", one_cell,
                 HoldBulkVelocity{star_sum.data(), weight_of_all(*grid_), target(substep), response.gain(gamma_dt),
                                  gamma_dt, forces_.get() + n, impulse});
    powers_[n] = 0;
    impulse_ = std::numeric_limits<real>::quiet_NaN();
    to_record_ = true;
    if (substep.k + 1 == Rk3::substeps) record();
    return;
  }
  const Result result = force(star_sum, substep, response);
  const auto value = static_cast<real>(gamma_dt * result.force);
  if (value != impulse_) parallel_for("mean force", one_cell, SetImpulse{value, impulse});
  impulse_ = value;
  forces_.get()[n] = result.force;
  powers_[n] = result.power;
}

void Forcing::record() {
  if (std::exchange(to_record_, false)) written_.record();
}

Forcing::Result Forcing::found(int k) {
  record();
  written_.wait();
  const auto n = static_cast<std::size_t>(k);
  return {forces_.get()[n], powers_[n]};
}

Forcing::Result Forcing::force(const DeferredSum& star_sum, const Substep& substep, const UniformResponse& response) {
  const TimeFunction& value = parameters_.value;
  switch (parameters_.kind) {
    case ForcingKind::none:
      break;
    case ForcingKind::pressure_gradient:
      if (value.is_constant()) return {value.constant()};
      return {substep.mean_of([&](double time) { return given(time); })};
    case ForcingKind::bulk_velocity: {
      const double missing = target(substep) - volume_mean(star_sum.value(), *grid_, comm_);
      return {missing / response.gain(substep.length())};
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
  const double gain = response.gain(substep.length());  // of the mean velocity by a unit force
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
