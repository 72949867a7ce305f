#pragma once
#include <mpi.h>

#include <vector>

#include "core/device/deferred.hpp"
#include "core/flow/parameters.hpp"
#include "core/support/exact_sum.hpp"
#include "solver/grid/grid.hpp"
#include "solver/state/state.hpp"

namespace sluice {

/// Volume mean of u or v: the average weighted with the cell heights. Same bits on every process grid. Collective.
double volume_mean(const Field& f, const Grid& grid, const Metrics& metrics, MPI_Comm comm);

/// One cell's contribution to that sum: its velocity times its height.
SLUICE_INLINE double weighted_by_height(real f, int k, const Metrics& m) {
  return static_cast<double>(f) * static_cast<double>(m.dz[k]);
}
/// The volume mean from this rank's part of the sum. Collective.
double volume_mean(const ExactSum& sum_here, const Grid& grid, MPI_Comm comm);

/// Volume mean of a profile that is uniform in x and y. Local.
double volume_mean(const std::vector<double>& profile, const Grid& grid);

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
