#pragma once
#include <mpi.h>

#include <vector>

#include "core/decomp/field.hpp"
#include "core/support/exact_sum.hpp"
#include "solver/grid/grid.hpp"

namespace sluice {

/// Volume mean of a field at centres in z: the average weighted with the cell heights. Same bits on every process grid.
/// Collective.
double volume_mean(const Field& f, const Grid& grid, const Metrics& metrics, MPI_Comm comm);

/// The same of a view with these cells.
double volume_mean(const View3<const real>& f, const Box3& cells, const Grid& grid, const Metrics& metrics,
                   MPI_Comm comm);

/// One cell's contribution to that sum: its value times its height.
SLUICE_INLINE double weighted_by_height(real f, int k, const Metrics& m) {
  return static_cast<double>(f) * static_cast<double>(m.dz[k]);
}
/// What a sum of these is divided by for the mean: nx ny Lz.
double weight_of_all(const Grid& grid);

/// The volume mean from this rank's part of the sum. Collective.
double volume_mean(const ExactSum& sum_here, const Grid& grid, MPI_Comm comm);

/// Volume mean of a profile that is uniform in x and y. Local.
double volume_mean(const std::vector<double>& profile, const Grid& grid);

}  // namespace sluice
