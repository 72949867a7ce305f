#include "solver/forcing.hpp"

#include "core/device/parallel_for.hpp"

namespace sluice {

namespace {

struct WeightedByHeight {
  View3<const real> f;
  const real* dz;
  SLUICE_INLINE void operator()(Cell c, double (&value)[1]) const {
    value[0] = static_cast<double>(f(c.i, c.j, c.k)) * static_cast<double>(dz[c.k]);
  }
};

}  // namespace

double volume_mean(const Field& f, const Grid& grid, const Metrics& metrics, MPI_Comm comm) {
  const ExactSum local = reduce_sum("volume mean", f.local_box(), WeightedByHeight{f.view(), metrics.dz});
  const double columns = static_cast<double>(grid.cells()[0]) * static_cast<double>(grid.cells()[1]);
  return total(local, comm) / (columns * grid.length_z());
}

double volume_mean(const std::vector<double>& profile, const Grid& grid) {
  double sum = 0;
  for (std::size_t k = 0; k < profile.size(); ++k) sum += profile[k] * grid.dz(static_cast<std::int64_t>(k));
  return sum / grid.length_z();
}

Forcing::Forcing(const ForcingParameters& parameters, const Grid& grid, const Metrics& metrics, MPI_Comm comm)
    : parameters_(parameters), grid_(&grid), metrics_(metrics), comm_(comm) {}

double Forcing::force(const Field& u_star, double gamma_dt, double response_mean) const {
  switch (parameters_.kind) {
    case ForcingKind::none:
      return 0;
    case ForcingKind::pressure_gradient:
      return parameters_.value;
    case ForcingKind::bulk_velocity:
      return (parameters_.value - volume_mean(u_star, *grid_, metrics_, comm_)) / (gamma_dt * response_mean);
  }
  return 0;
}

}  // namespace sluice
