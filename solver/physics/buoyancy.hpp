#pragma once
#include <array>
#include <string>

#include "solver/momentum/operators.hpp"
#include "solver/physics/term.hpp"
#include "solver/state/state.hpp"

namespace sluice {

enum class BuoyancyKind { none, richardson, friction_richardson, grashof, rayleigh };

/// The strength as given: g beta C with h and U, with h and u_tau, with 2 h and nu, or with 2 h, nu and kappa.
struct BuoyancyStrength {
  BuoyancyKind kind = BuoyancyKind::none;
  double value = 0;

  bool operator==(const BuoyancyStrength&) const = default;
};

/// Boussinesq: the force -direction * coefficient * (c - reference) per mass; fluid with much of the scalar rises.
struct BuoyancyParameters {
  BuoyancyStrength strength{};                ///< as given
  std::string scalar{};                       ///< its name; empty: none
  double coefficient = 0;                     ///< g beta, in U^2/(h C), which follows from the strength
  double reference = 0;                       ///< at which there is no force
  std::array<double, 3> direction{0, 0, -1};  ///< of gravity, a unit vector; as given of any length

  bool active() const { return coefficient != 0; }
  bool operator==(const BuoyancyParameters&) const = default;
};

const Term& buoyancy_term();

/// Buoyancy but for its constant part, at the places of u and of w; for the budgets of scalars.
struct BuoyantForce {
  op::In c;  ///< the buoyant scalar
  real along_x, along_z;

  /// any_scalar: is read in flows without buoyancy.
  static BuoyantForce of(const FlowParameters& flow, const State& state, op::In any_scalar);

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
