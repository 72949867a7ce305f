#pragma once
#include <mpi.h>

#include "solver/flow_parameters.hpp"
#include "solver/grid.hpp"
#include "solver/state.hpp"

namespace sluice {

/// The largest stable time step dt_lim of RK3 for this velocity:
///   1/dt_lim = max(|u|/dx + |v|/dy + |w|/dz)/sqrt(3) + 4 nu (1/dx^2 + 1/dy^2 + 1/dz_min^2)/2.51,
/// without the dz term of the second part when diffusion along z is implicit. sqrt(3) and 2.51 bound RK3's stability
/// region along the imaginary and the negative real axis. NaN if the velocity holds one. Collective; the same bits on
/// every process grid.
double time_step_limit(const VectorField& velocity, const Grid& grid, const Metrics& metrics,
                       const FlowParameters& flow, MPI_Comm comm);

}  // namespace sluice
