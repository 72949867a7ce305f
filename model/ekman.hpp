#pragma once
// The layer between a wall and a geostrophic flow in a rotating frame.
#include "model/parameters.hpp"

namespace sluice {

/// Scales of an Ekman layer, in the units of the case.
struct EkmanLayer {
  double speed;     ///< G, the speed of the geostrophic flow
  double depth;     ///< D = sqrt(2 nu/f) of the laminar layer, with f = 2 |Omega_z|
  double reynolds;  ///< Re_D = G D/nu
  double period;    ///< 2 pi/f, with which the mean flow oscillates about its steady state
  /// u_tau that is expected if the layer is turbulent: from the geostrophic drag law, but at least the laminar one.
  double friction_velocity;
};

/// `flow` must have a geostrophic velocity, and therefore a rotation about z.
EkmanLayer ekman_layer(const FlowParameters& flow);

}  // namespace sluice
