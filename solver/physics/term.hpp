#pragma once
#include <array>
#include <complex>
#include <memory>
#include <optional>
#include <string>

#include "model/mean_flow.hpp"
#include "model/physics.hpp"
#include "solver/grid/grid.hpp"
#include "solver/physics/body_force.hpp"

namespace sluice {

/// The force of a term on the mean flow q = u + i v at a height, where it is linear: source + factor q.
struct MeanOperator {
  std::complex<double> factor = 0, source = 0;
};

/// A flow that is driven from far above the wall, in the units of the case.
struct BoundaryLayer {
  std::array<double, 2> velocity;  ///< along x and y, far above the wall
  double speed;                    ///< its magnitude
  double depth;                    ///< D of the laminar layer
  const char* reynolds_name;       ///< "Re_D", speed times depth over nu
  double reynolds;
  double lowest_unstable;    ///< the Reynolds number below which the laminar layer is stable
  double period;             ///< with which the mean flow oscillates about its steady state
  const char* friction_law;  ///< what the next value follows from
  double friction_velocity;  ///< expected if the layer is turbulent, at least the laminar one
  double eddies;             ///< height up to which eddies reach
};

/// What `sluice check` knows of a flow when it describes a term.
struct CheckedFlow {
  const FlowParameters& flow;
  const Grid& grid;
  bool couette;
  double friction_velocity;  ///< expected; 0: nothing drives a mean flow, or not known
};

/// All that the code knows of one term. A default implementation means: no such effect. `flow` is that of the case, in
/// which the term may be inactive.
class Term : public Physics {
 public:
  /// Its part of 1/dt_lim (time_step_limit.hpp).
  virtual double rate(const FlowParameters& /*flow*/) const { return 0; }
  /// Whether the budgets of scalars need products of a scalar with its force that no other profile gives.
  virtual bool is_in_scalar_budgets(const FlowParameters& /*flow*/) const { return false; }
  /// Its force in the volume; null without one.
  virtual std::unique_ptr<BodyForce> force(const Metrics& /*metrics*/, const FlowParameters& /*flow*/) const {
    return nullptr;
  }
  /// Whether that force depends on scalars.
  virtual bool reads_scalars() const { return false; }
  /// The word for the motion in which it sets a fluid at rest, such as "convection"; empty if it does not.
  virtual std::string motion(const FlowParameters& /*flow*/) const { return {}; }
  /// Why it adds to the mean friction of the walls; empty if it does not.
  virtual std::string mean_force(const FlowParameters& /*flow*/) const { return {}; }
  virtual MeanOperator mean_operator(const FlowParameters& /*flow*/) const { return {}; }
  virtual std::optional<BoundaryLayer> boundary_layer(const FlowParameters& /*flow*/) const { return {}; }
  /// Sets the members of `mean` that it affects.
  virtual void describe(const FlowParameters& /*flow*/, MeanFlow& /*mean*/) const {}
  /// Its line in the output of `sluice check`, without the newline.
  virtual std::string check_line(const CheckedFlow& /*checked*/) const { return {}; }
};

}  // namespace sluice
