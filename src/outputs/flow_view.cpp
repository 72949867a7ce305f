#include "src/outputs/flow_view.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/support/error.hpp"

namespace sluice {

const Diagnostics& FlowView::diagnostics() {
  const State& now = state();
  if (diagnosed_step_ == now.step) return diagnostics_;
  diagnostics_ = simulation_->stepper.diagnose(now);
  diagnosed_step_ = now.step;
  if (!diagnostics_.finite()) {
    throw Error(ExitCode::numerics, fmt::format("the flow is not finite at step {} (time {:g}): the run has blown up; "
                                                "use a smaller time.cfl or dt, or a finer grid",
                                                now.step, now.time));
  }
  return diagnostics_;
}

double re_tau(double shear, double viscosity) {
  return std::sqrt(std::abs(shear)) / viscosity;
}

}  // namespace sluice
