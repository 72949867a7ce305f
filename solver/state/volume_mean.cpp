// Volume means of fields and profiles, with the same bits on every process grid.
#include "solver/state/volume_mean.hpp"

#include "core/device/parallel_for.hpp"

namespace sluice {

namespace {

struct WeightedByHeight {
  View3<const real> f;
  Metrics m;
  SLUICE_INLINE void operator()(Cell c, double (&value)[1]) const {
    value[0] = weighted_by_height(f(c.i, c.j, c.k), c.k, m);
  }
};

}  // namespace

double volume_mean(const Field& f, const Grid& grid, const Metrics& metrics, MPI_Comm comm) {
  return volume_mean(f.view(), f.local_box(), grid, metrics, comm);
}

double volume_mean(const View3<const real>& f, const Box3& cells, const Grid& grid, const Metrics& metrics,
                   MPI_Comm comm) {
  return volume_mean(reduce_sum("volume mean", cells, WeightedByHeight{f, metrics}), grid, comm);
}

double weight_of_all(const Grid& grid) {
  return static_cast<double>(grid.cells()[0]) * static_cast<double>(grid.cells()[1]) * grid.length_z();
}

double volume_mean(const ExactSum& sum_here, const Grid& grid, MPI_Comm comm) {
  return total(sum_here, comm) / weight_of_all(grid);
}

double volume_mean(const std::vector<double>& profile, const Grid& grid) {
  double sum = 0;
  for (std::size_t k = 0; k < profile.size(); ++k) sum += profile[k] * grid.dz(static_cast<std::int64_t>(k));
  return sum / grid.length_z();
}

}  // namespace sluice
