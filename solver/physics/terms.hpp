#pragma once
// The terms of the equations beyond momentum, diffusion and forcing, and what they add up to. Code outside of
// solver/physics uses this interface and names no term.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/mean_flow.hpp"
#include "model/physics.hpp"
#include "solver/physics/term.hpp"

namespace sluice {

/// All terms, in the order of their keys in the case file.
PhysicsList all_terms();

/// All that case files have keys of: terms, the control of walls, sources of scalars.
PhysicsList all_physics();

/// The parts of 1/dt_lim that come from terms, and the largest that comes from the source of a scalar, with their
/// names.
struct TermRate {
  std::string name;
  double rate = 0;
};
std::vector<TermRate> term_rates(const FlowParameters& flow);

/// Their sum.
double rate_of_terms(const FlowParameters& flow);

/// Names of the terms that act on this flow.
std::vector<std::string> active_terms(const FlowParameters& flow);

/// Whether statistics need the profiles of a scalar times forces.
bool forces_are_in_scalar_budgets(const FlowParameters& flow);

/// Whether steps of a flow can defer corrections to the next momentum sweep. Given power reads the mean velocity before
/// that sweep. Diffusion that is implicit in all directions reads the velocity after it, and so do, on GPUs, where the
/// sweep adds no forces, forces that depend on the velocity.
inline bool can_leave_corrections(const FlowParameters& flow, const BodyForces& forces, bool on_gpu) {
  return flow.forcing.kind != ForcingKind::power && flow.diffusion != Diffusion::implicit &&
         !(on_gpu && forces.read_velocity());
}

/// The word for the motion in which a term sets a fluid at rest; empty if none does.
std::string motion_of_terms(const FlowParameters& flow);

/// Why a term adds to the mean friction of the walls; empty if none does.
std::string mean_force(const FlowParameters& flow);

/// The sum of the mean forces of all terms.
MeanOperator mean_operator(const FlowParameters& flow);

/// That of the term that drives the flow from above; none if no term does.
std::optional<BoundaryLayer> boundary_layer(const FlowParameters& flow);

/// What all terms together mean for the mean flow.
MeanFlow mean_flow(const FlowParameters& flow);

/// The lines of terms in the output of `sluice check`: of those that read scalars, or of all others.
std::vector<std::string> check_lines(const CheckedFlow& checked, bool reads_scalars);

}  // namespace sluice
