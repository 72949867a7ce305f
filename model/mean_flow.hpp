#pragma once
// The mean flow: what the terms of the equations mean for it, and the wall stress that defines u_tau and Re_tau.
#include <array>
#include <cmath>
#include <optional>

namespace sluice {

/// What the terms of the equations mean for the mean flow, for code that does not know the terms.
struct MeanFlow {
  bool is_mirrored = true;         ///< whether mirroring the flow (z -> Lz - z, w -> -w) mirrors its forces
  bool is_turned = true;           ///< whether half a turn of the flow about y turns its forces
  bool changes_direction = false;  ///< whether its direction, and that of the stress, changes with height
  /// Velocity along x and y far above the wall, of a flow that it drives.
  std::optional<std::array<double, 2>> velocity_above{};
};

/// The wall stress that equals u_tau^2, from the components along x and y of the mean stress over the density: the
/// magnitude of the vector if the direction of the mean flow changes with height, otherwise the component along x.
inline double stress_of_u_tau(bool changes_direction, double along_x, double along_y) {
  return changes_direction ? std::hypot(along_x, along_y) : std::abs(along_x);
}

/// u_tau h/nu from a wall stress over the density, of either sign. h is the unit of length of the case: half the
/// distance between two walls, the depth of an open channel, the length that the parameters of an Ekman layer imply.
inline double re_tau(double stress, double viscosity) {
  return std::sqrt(std::abs(stress)) / viscosity;
}

}  // namespace sluice
