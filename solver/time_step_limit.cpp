#include "solver/time_step_limit.hpp"

#include <cmath>

#include "core/device/parallel_for.hpp"
#include "core/support/collective.hpp"
#include "solver/diagnostics.hpp"

namespace sluice {

namespace {

struct AdvectiveRate {
  View3<const real> u, v, w;
  Metrics m;
  SLUICE_INLINE double operator()(Cell c) const {
    const real rate = std::abs(u(c.i, c.j, c.k)) * m.inv_dx + std::abs(v(c.i, c.j, c.k)) * m.inv_dy +
                      std::abs(w(c.i, c.j, c.k)) * m.inv_dz_center[c.k];
    return static_cast<double>(rate);
  }
};

}  // namespace

double time_step_limit(const VectorField& velocity, const Grid& grid, const Metrics& metrics,
                       const FlowParameters& flow, MPI_Comm comm) {
  const double local = reduce_max("time step limit", velocity.u.local_box(),
                                  AdvectiveRate{velocity.u.view(), velocity.v.view(), velocity.w.view(), metrics});
  const double advective = global_max(local, comm) / std::sqrt(3.0);
  double inverse_squares = 1 / (grid.dx() * grid.dx()) + 1 / (grid.dy() * grid.dy());
  if (flow.diffusion == Diffusion::explicit_) inverse_squares += 1 / (grid.dz_min() * grid.dz_min());
  return 1 / (advective + 4 * flow.viscosity * inverse_squares / 2.51);
}

}  // namespace sluice
