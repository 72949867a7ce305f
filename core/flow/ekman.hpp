#pragma once
// The layer between a wall and a geostrophic flow in a rotating frame.
#include "core/flow/parameters.hpp"

namespace sluice {

/// Lengths and velocities in the units of the case.
struct EkmanLayer {
  double speed;     ///< G, of the geostrophic flow
  double depth;     ///< D = sqrt(2 nu/f) of the laminar layer, with f = 2 |Omega_z|
  double reynolds;  ///< Re_D = G D/nu
  double period;    ///< 2 pi/f, of the oscillation of the mean flow about its steady state
  /// Expected of a turbulent layer: that of the geostrophic drag law, but at least that of the laminar layer.
  double friction_velocity;
};

/// `flow` must have a geostrophic velocity, so also a rotation about z.
EkmanLayer ekman_layer(const FlowParameters& flow);

}  // namespace sluice
