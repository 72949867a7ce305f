#include "solver/time_step_limit.hpp"

#include <algorithm>
#include <cmath>

#include "core/device/parallel_for.hpp"
#include "core/flow/lines.hpp"
#include "core/support/collective.hpp"
#include "solver/diagnostics.hpp"

namespace sluice {

namespace {

template <Order order>
struct AdvectiveRate {
  View3<const real> u, v, w;
  Metrics m;
  SLUICE_INLINE double operator()(Cell c) const {
    return advective_rate<order>(u(c.i, c.j, c.k), v(c.i, c.j, c.k), w(c.i, c.j, c.k), c.k, m);
  }
};

}  // namespace

double time_step_limit(const VectorField& velocity, const Metrics& metrics, Order order, double constant_rate,
                       MPI_Comm comm) {
  double local = 0;
  op::with_order(order, [&](auto constant) {
    const AdvectiveRate<constant> rate{velocity.u.view(), velocity.v.view(), velocity.w.view(), metrics};
    local = reduce_max("time step limit", velocity.u.local_box(), rate);
  });
  return time_step_limit(local, constant_rate, comm);
}

double time_step_limit(double largest_rate_here, double constant_rate, MPI_Comm comm) {
  return 1 / (global_max(largest_rate_here, comm) / std::sqrt(3.0) + constant_rate);
}

double diffusive_rate(const Grid& grid, const FlowParameters& flow) {
  const auto rate = [&](double diffusivity) {
    const double kappa = largest_wavenumber(flow.order);
    double inverse_squares = kappa * kappa * (1 / (grid.dx() * grid.dx()) + 1 / (grid.dy() * grid.dy()));
    if (flow.diffusion == Diffusion::explicit_) inverse_squares += 1 / (grid.dz_min() * grid.dz_min());
    return 4 * diffusivity * inverse_squares / 2.51;
  };
  double largest = rate(flow.viscosity);
  for (const ScalarParameters& scalar : flow.scalars) largest = std::max(largest, rate(flow.diffusivity(scalar)));
  return largest;
}

double rotation_rate(const RotationParameters& rotation) {
  return 2 * std::hypot(rotation.rate[0], rotation.rate[1], rotation.rate[2]) / std::sqrt(3.0);
}

}  // namespace sluice
