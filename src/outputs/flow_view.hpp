#pragma once
#include "src/run/simulation.hpp"

namespace sluice {

/// The flow as observers see it. What is costly to form is formed for the first observer that asks for it, once a step.
class FlowView {
 public:
  explicit FlowView(const Simulation& simulation) : simulation_(&simulation) {}

  /// The fields, every halo valid. Whoever reads the velocity asks for it here.
  const State& state() const { return simulation_->state; }

  /// Scalars of the flow. Collective. Throws Error(numerics) if the flow is not finite.
  const Diagnostics& diagnostics();

 private:
  const Simulation* simulation_;
  Diagnostics diagnostics_;
  std::int64_t diagnosed_step_ = -1;
};

/// u_tau h / nu from a wall's mean shear, which may have either sign.
double re_tau(double shear, double viscosity);

}  // namespace sluice
