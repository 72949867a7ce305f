#pragma once
// Linear stability of a parallel flow U(z) in a frame that rotates about the spanwise axis: streamwise rolls, by
// Chebyshev collocation.
#include <functional>
#include <vector>

namespace sluice::test {

struct RotatingChannel {
  std::function<double(double z)> shear;  ///< dU/dz between walls at z = 0 and 2
  double viscosity;
  double twice_rate;  ///< 2 Omega_y
  double wavenumber;  ///< along y
};

/// u = U + u(z) cos(b y) exp(rate t), v = v(z) sin(b y) exp(rate t), w = w(z) cos(b y) exp(rate t), independent of x.
/// The profiles are at the points of Chebyshev, from z = 2 to 0.
struct Roll {
  double rate;
  std::vector<double> u, v, w;
};

/// The roll whose real rate is nearest to `guess`, on `intervals` intervals. No-slip walls.
Roll nearest_roll(const RotatingChannel& channel, double guess, int intervals = 40);

}  // namespace sluice::test
