#pragma once
// What u_tau and Re_tau are formed of, wherever they are printed or written.
#include <cmath>

#include "core/flow/parameters.hpp"

namespace sluice {

/// The wall stress of u_tau, from the components along x and y of the mean stress over the density. Where the mean flow
/// turns with the height, it is the magnitude of the vector, else the component along x.
inline double stress_of_u_tau(const RotationParameters& rotation, double along_x, double along_y) {
  return rotation.turns_mean_flow() ? std::hypot(along_x, along_y) : std::abs(along_x);
}

/// u_tau h/nu from a wall stress over the density, of either sign. h is the unit of length of the case: half the
/// distance of two walls, the depth of an open channel, the length of its choice in an Ekman layer.
inline double re_tau(double stress, double viscosity) {
  return std::sqrt(std::abs(stress)) / viscosity;
}

}  // namespace sluice
