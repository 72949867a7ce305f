#pragma once
#include <mpi.h>

#include <vector>

#include "core/device/deferred.hpp"
#include "core/flow/parameters.hpp"
#include "core/support/exact_sum.hpp"
#include "solver/grid/grid.hpp"
#include "solver/state/volume_mean.hpp"

namespace sluice {

/// The mean force in x that drives the flow.
class Forcing {
 public:
  Forcing(const ForcingParameters& parameters, const Grid& grid, MPI_Comm comm);

  /// The force f of this substep for the unforced u*. Given bulk velocity: f = (target - <u*>) / (gamma dt <g>); given
  /// pressure gradient: that constant; otherwise 0. `u_star_sum`: weighted_by_height summed over the rank's cells;
  /// waited for only if needed. `response_mean`: <g>, 1 with explicit diffusion. Collective.
  double force(const Deferred<ExactSum>& u_star_sum, double gamma_dt, double response_mean) const;

 private:
  ForcingParameters parameters_;
  const Grid* grid_;
  MPI_Comm comm_;
};

}  // namespace sluice
