#include "solver/forcing.hpp"

namespace sluice {

Forcing::Forcing(const ForcingParameters& parameters, const Grid& grid, MPI_Comm comm)
    : parameters_(parameters), grid_(&grid), comm_(comm) {}

double Forcing::force(const Deferred<ExactSum>& u_star_sum, double gamma_dt, double response_mean) const {
  switch (parameters_.kind) {
    case ForcingKind::none:
      return 0;
    case ForcingKind::pressure_gradient:
      return parameters_.value.constant();
    case ForcingKind::bulk_velocity:
      return (parameters_.value.constant() - volume_mean(u_star_sum.value(), *grid_, comm_)) /
             (gamma_dt * response_mean);
  }
  return 0;
}

}  // namespace sluice
