#pragma once
#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

#include "solver/grid/grid.hpp"
#include "solver/state/state.hpp"

namespace sluice {

/// Where a quantity is worst, for the report of a run that has failed. Slow: copies the quantity to the host.
struct Extreme {
  std::array<std::int64_t, 3> cell{};  ///< global indices along x, y, z
  double value = 0;
  std::int64_t not_finite = 0;  ///< number of cells whose value is not finite
};

/// The cell of the largest magnitude; if values are not finite, the first such cell, in the order of files. Of equal
/// ones the first. Collective; same result on every process grid.
Extreme extreme_of(const Field& quantity, MPI_Comm comm);

/// extreme_of div u at centres. Collective.
Extreme extreme_divergence(const VectorField& velocity, const Metrics& metrics, Order order, MPI_Comm comm);

/// extreme_of the rate that limits the time step, advective_rate (time_step_limit.hpp). Collective.
Extreme extreme_rate(const VectorField& velocity, const Metrics& metrics, Order order, MPI_Comm comm);

/// The values of state.fields() that belong to a cell. Collective.
std::vector<double> values_in(const State& state, const std::array<std::int64_t, 3>& cell, MPI_Comm comm);

}  // namespace sluice
