#pragma once
#include <mpi.h>

#include <array>
#include <string>
#include <vector>

#include "core/device/deferred.hpp"
#include "core/device/event.hpp"
#include "core/device/memory.hpp"
#include "core/support/exact_sum.hpp"
#include "model/parameters.hpp"
#include "solver/diffusion/uniform_response.hpp"
#include "solver/grid/grid.hpp"
#include "solver/named_value.hpp"
#include "solver/rk3.hpp"
#include "solver/state/volume_mean.hpp"

namespace sluice {

/// The force f for which f (mean + slope f) = power: the velocity on which it acts grows with it. mean > 0, slope > 0;
/// NaN if no force has this (negative) power.
double force_of_power(double power, double mean, double slope);

/// What drives the mean flow in a substep or, averaged, in a step.
struct MeanForce {
  double x = 0, y = 0;  ///< the force along x and y
  double power = 0;     ///< of the force along x per volume, if the power is given

  void add(double weight, const MeanForce& other);
};

/// What the time series and checkpoints have of it beside x: the power if it is given, y if a force acts along y.
std::vector<NamedValue> further_forcing(const FlowParameters& flow, const MeanForce& force);

/// The mean force along x or y that drives the flow.
class Forcing {
 public:
  /// `key`: of the case file, for messages.
  Forcing(const ForcingParameters& parameters, std::string key, const Grid& grid, MPI_Comm comm);

  /// What drives the flow: that of the case, or a number given by set().
  const ForcingParameters& parameters() const { return parameters_; }
  /// A new force (U^2/h), bulk velocity (U) or power (U^3/h, > 0), of the kind that the flow has; without one, a force.
  /// It is constant in time, from the next step on. Call it on every rank with the same value. Throws Error(usage) if
  /// the value is not allowed. Local.
  void set(double value);
  /// Returns to parameters() of earlier. Local.
  void restore(const ForcingParameters& parameters) { parameters_ = parameters; }

  /// Whether find() needs the volume mean of the velocity at the start of a step.
  bool needs_mean_before() const { return parameters_.kind == ForcingKind::power; }
  void set_mean_before(double mean) { mean_ = mean; }

  /// Whether find() reads the sum on the host. A single rank that holds the bulk velocity leaves it to the device.
  bool needs_sum_on_host() const;

  /// Throws Error(numerics) if the given force, bulk velocity or power is not finite in a substep. Local.
  void require_finite(const Substep& substep) const;

  struct Result {
    double force = 0, power = 0;
  };
  /// Finds the force f of a substep for the unforced u* (or v*), and writes gamma dt f to `impulse`, in device memory.
  /// Given bulk velocity, for the end of the substep: f = (target - <u*>) / (gamma dt <g>); given pressure gradient G:
  /// f = (alpha G(t_k) + beta G(t_k-1)) / gamma; given power P: f (<u>_before + <u>_after) / 2 = P, P weighted as G,
  /// <u>_after = <u*> + gamma dt f <g>; otherwise 0. `star_sum`: weighted_by_height summed over the rank's cells;
  /// waited for if the host needs it. `response`: g. Throws Error(numerics), also where the value given is not
  /// finite. Collective.
  void find(const DeferredSum& star_sum, const Substep& substep, const UniformResponse& response, real* impulse);

  /// The force of substep k of the present or the last step, which find() has found. Waits for it. Local.
  Result found(int k);

 private:
  /// Marks where the device has written all forces so far.
  void record();
  double given(double time) const;
  /// The bulk velocity at the end of the substep.
  double target(const Substep& substep) const;
  Result force(const DeferredSum& star_sum, const Substep& substep, const UniformResponse& response);
  Result force_of_given_power(double mean_star, const Substep& substep, const UniformResponse& response);

  ForcingParameters parameters_;
  std::string key_;
  const Grid* grid_;
  MPI_Comm comm_;
  double mean_ = 0;                             ///< given power: volume mean of u at the end of the last substep
  real impulse_ = 0;                            ///< what find() wrote last; NaN if only the device knows
  device::HostPointer<double> forces_;          ///< of each substep; written by the host or by a loop
  std::array<double, Rk3::substeps> powers_{};  ///< the power of each force
  device::Event written_;                       ///< when the loops have written their forces
  bool to_record_ = false;                      ///< whether such loops were issued after `written_`
};

}  // namespace sluice
