#pragma once
#include <mpi.h>

#include <cmath>
#include <vector>

#include "core/flow/parameters.hpp"
#include "solver/grid/grid.hpp"
#include "solver/state/state.hpp"

namespace sluice {

/// Largest modified wavenumber of a first derivative along x or y times the spacing: the maximum of sin t for order 2,
/// of (9/8) sin t - (1/24) sin 3t for order 4. That of a second derivative is 4 times its square.
constexpr double largest_wavenumber(Order order) {
  return order == Order::fourth ? 7.0 / 6 : 1;
}

/// kappa (|u - V|/dx + |v|/dy) + |w|/dz with the three face values that belong to a cell; kappa: largest_wavenumber, V:
/// velocity of the grid.
template <Order order>
SLUICE_INLINE double advective_rate(real u, real v, real w, int k, const Metrics& m) {
  real in_plane = std::abs(u - m.velocity) * m.inv_dx + std::abs(v) * m.inv_dy;
  if constexpr (order == Order::fourth) in_plane *= static_cast<real>(largest_wavenumber(order));
  return static_cast<double>(in_plane + std::abs(w) * m.inv_dz_center[k]);
}

/// The largest stable time step dt_lim of RK3 for this velocity:
///   1/dt_lim = max(kappa (|u - V|/dx + |v|/dy) + |w|/dz)/sqrt(3) + constant_rate,
/// where constant_rate = diffusive_rate + rotation_rate;
/// kappa = 1 for order 2 and 7/6 for order 4, V: velocity of the grid.
/// sqrt(3), and 2.51 below, bound RK3's stability region along the imaginary and negative real axes. NaN if the
/// velocity contains NaN. Collective; same bits on every process grid.
double time_step_limit(const VectorField& velocity, const Metrics& metrics, Order order, double constant_rate,
                       MPI_Comm comm);

/// The same from the largest advective rate over the rank's cells. Collective.
double time_step_limit(double largest_rate_here, double constant_rate, MPI_Comm comm);

/// The part of 1/dt_lim that comes from diffusion, 4 nu (kappa^2/dx^2 + kappa^2/dy^2 + 1/dz_min^2)/2.51: the largest of
/// the velocity and the scalars with their diffusivities. Without the 1/dz_min^2 term if diffusion along z is implicit.
double diffusive_rate(const Grid& grid, const FlowParameters& flow);

/// The part of 1/dt_lim that comes from the Coriolis force, 2 |Omega| / sqrt(3): its eigenvalues are imaginary, and
/// interpolation makes none of them larger. 0 without rotation.
double rotation_rate(const RotationParameters& rotation);

}  // namespace sluice
