#pragma once
#include "src/run/simulation.hpp"

namespace sluice {

/// The flow for observers. Forms expensive quantities at the first request in a step and keeps them for the others.
class FlowView {
 public:
  explicit FlowView(const Simulation& simulation) : simulation_(&simulation) {}

  /// The fields, every halo valid. Observers that read the velocity call this.
  const State& state() const { return simulation_->state; }

  /// Scalars of the flow. Collective. Throws Error(numerics) if the flow is not finite.
  const Diagnostics& diagnostics();

 private:
  const Simulation* simulation_;
  Diagnostics diagnostics_;
  std::int64_t diagnosed_step_ = -1;
};

/// u_tau h / nu from a wall's mean shear of either sign.
double re_tau(double shear, double viscosity);

}  // namespace sluice
