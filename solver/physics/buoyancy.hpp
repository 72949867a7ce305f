#pragma once
#include "solver/momentum/operators.hpp"
#include "solver/physics/term.hpp"

namespace sluice {

const Term& buoyancy_term();

/// The number of the scalar that makes fluid light or heavy, if buoyancy is active.
int buoyant_scalar(const FlowParameters& flow);

/// Buoyancy but for its constant part, at the places of u and of w; for the budgets of scalars.
struct BuoyantForce {
  op::In c;  ///< the buoyant scalar
  real along_x, along_z;

  static BuoyantForce of(const FlowParameters& flow, op::In c) {
    const BuoyancyParameters& buoyancy = flow.buoyancy;
    return {c, static_cast<real>(-buoyancy.coefficient * buoyancy.direction[0]),
            static_cast<real>(-buoyancy.coefficient * buoyancy.direction[2])};
  }

  template <Order order>
  SLUICE_INLINE double on_u(const op::CellFor<order>& at) const {
    return static_cast<double>(along_x * op::scalar_at_face<order, Location::x_face>(c, at));
  }
  template <Order order>
  SLUICE_INLINE double on_w(const op::CellFor<order>& at) const {
    return static_cast<double>(along_z * op::scalar_at_face<order, Location::z_face>(c, at));
  }
};

}  // namespace sluice
