#include "model/ekman.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sluice {

namespace {

/// u_tau/G of the geostrophic drag law of smooth walls. delta+ = u_tau^2/(f nu), and phi is the angle between the wall
/// stress and the geostrophic velocity:
///   (G/u_tau) cos(phi) = ln(delta+)/kappa + A,   sin(phi) = B u_tau/G
/// The form follows from matching a logarithmic layer to an outer layer of depth u_tau/f (Rossby-number similarity).
/// A and B were chosen for small Re_D: the law is within 2 % of u_tau/G = 0.0652 at Re_D = 400 (Coleman, Ferziger &
/// Spalart, J. Fluid Mech. 213, 313, 1990) and 0.0531 at 1000 (Coleman, J. Atmos. Sci. 56, 891, 1999).
double drag_law(double re_d) {
  constexpr double kappa = 0.41;
  constexpr double offset = 0.3;
  constexpr double sine = 5.57;
  double low = 0;
  double high = 1 / sine;
  for (int n = 0; n < 60; ++n) {
    const double ratio = (low + high) / 2;
    const double cosine = std::sqrt(1 - std::pow(sine * ratio, 2));
    const double delta_plus = std::pow(ratio * re_d, 2) / 2;
    (cosine / ratio > std::log(delta_plus) / kappa + offset ? low : high) = ratio;
  }
  return (low + high) / 2;
}

}  // namespace

EkmanLayer ekman_layer(const FlowParameters& flow) {
  const RotationParameters& rotation = flow.rotation;
  const double speed = std::hypot(rotation.geostrophic[0], rotation.geostrophic[1]);
  const double coriolis = 2 * std::abs(rotation.rate[2]);
  const double depth = std::sqrt(2 * flow.viscosity / coriolis);
  const double reynolds = speed * depth / flow.viscosity;
  const double laminar = std::sqrt(std::numbers::sqrt2 / reynolds);  // exact: u_tau^2 = sqrt(2) nu G/D
  return {speed, depth, reynolds, 2 * std::numbers::pi / coriolis, speed * std::max(laminar, drag_law(reynolds))};
}

}  // namespace sluice
