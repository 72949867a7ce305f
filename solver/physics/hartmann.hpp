#pragma once
#include "solver/physics/term.hpp"

namespace sluice {

/// A uniform magnetic field normal to the walls, at a low magnetic Reynolds number. Its force is a drag on u and v,
/// -Ha^2 nu (u, v), eq. (14).
struct MagneticFieldParameters {
  double hartmann = 0;  ///< Ha = B h sqrt(sigma/(rho nu)); 0: no field

  bool active() const { return hartmann != 0; }
  bool operator==(const MagneticFieldParameters&) const = default;
};

const Term& magnetic_field_term();

}  // namespace sluice
