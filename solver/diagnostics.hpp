#pragma once
#include <mpi.h>

#include <string>
#include <vector>

#include "model/parameters.hpp"
#include "solver/grid/grid.hpp"
#include "solver/named_value.hpp"
#include "solver/state/state.hpp"
#include "solver/walls/walls.hpp"

namespace sluice {

/// Scalars of one state for the time series. All functions are collective; same bits on every process grid.
struct Diagnostics {
  double bulk_velocity = 0;   ///< volume mean of u
  double kinetic_energy = 0;  ///< volume mean of |u|^2/2 on the native points
  double max_divergence = 0;  ///< largest |div u|
  /// Plane mean of nu du/dz at each wall, from the scheme; not negated at the top.
  double shear_bottom = 0;
  double shear_top = 0;
  /// The stresses that u_tau is formed from (model/mean_flow.hpp).
  double stress_bottom = 0;
  double stress_top = 0;
  struct Scalar {
    double mean = 0;     ///< over the volume
    double largest = 0;  ///< magnitude
    /// Plane means of the flux into the fluid at each wall, kappa dc/dn with n out of the fluid, from the scheme.
    double flux_bottom = 0;
    double flux_top = 0;
  };
  std::vector<Scalar> scalars;
  std::vector<NamedValue> further;  ///< those of further_diagnostics(), in this order
  bool finite() const;
};

/// Names of the further diagnostics of such a flow: further columns of the time series. A term of the equations that
/// has any adds their names here and their values in diagnose().
std::vector<std::string> further_diagnostics(const FlowParameters& flow);

Diagnostics diagnose(const State& state, const Grid& grid, const Metrics& metrics, const FlowParameters& flow,
                     const Walls& walls, MPI_Comm comm);

/// Largest value over ranks; NaN if any is NaN. Collective.
double global_max(double local, MPI_Comm comm);

}  // namespace sluice
