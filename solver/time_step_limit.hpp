#pragma once
#include <mpi.h>

#include <vector>

#include "model/parameters.hpp"
#include "solver/grid/grid.hpp"
#include "solver/momentum/advective_rate.hpp"
#include "solver/state/state.hpp"

namespace sluice {

/// The largest advective rate over all cells, max(kappa (|u - V|/dx + |v|/dy) + |w|/dz), with kappa = 1 for order 2 and
/// 7/6 for order 4, V: velocity of the grid. NaN if the velocity contains NaN. Collective; same bits on every process
/// grid.
double largest_rate(const VectorField& velocity, const Metrics& metrics, Order order, MPI_Comm comm);

/// The largest stable time step dt_lim of RK3:
///   1/dt_lim = largest_rate/sqrt(3) + constant_rate,   constant_rate = diffusive_rate + rate_of_terms,
/// and the rates of forces that TimeStepper::add adds.
/// sqrt(3), and 2.51 below, bound RK3's stability region along the imaginary and negative real axes.
double time_step_limit(double largest_rate, double constant_rate);

/// The part of 1/dt_lim that comes from diffusion, 4 nu (kappa^2/dx^2 + kappa^2/dy^2 + 1/dz_min^2)/2.51: the largest of
/// the velocity and the scalars with their diffusivities. Without the 1/dz_min^2 term if diffusion along z is implicit;
/// if it is implicit in all directions, with 1/H^2 in place of the sum, H: height of the domain, so that the steps of a
/// fluid at rest resolve diffusion over this height.
double diffusive_rate(const Grid& grid, const FlowParameters& flow);

}  // namespace sluice
