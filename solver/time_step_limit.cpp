// dt_lim: the largest stable time step, from advection, diffusion and the rates of terms.
#include "solver/time_step_limit.hpp"

#include <algorithm>
#include <cmath>

#include "core/stencil/loops.hpp"
#include "core/support/collective.hpp"
#include "solver/diagnostics.hpp"

namespace sluice {

double largest_rate(const VectorField& velocity, const Metrics& metrics, Order order, MPI_Comm comm) {
  const auto& [u, v, w] = velocity;
  return global_max(
      op::reduce_max<AdvectiveRate>("time step limit", u.local_box(), order, u.view(), v.view(), w.view(), metrics),
      comm);
}

double time_step_limit(double largest_rate, double constant_rate) {
  return 1 / (largest_rate / std::sqrt(3.0) + constant_rate);
}

double diffusive_rate(const Grid& grid, const FlowParameters& flow) {
  const auto rate = [&](double diffusivity) {
    const double kappa = largest_wavenumber(flow.order);
    const double height = grid.z_nodes().back() - grid.z_nodes().front();
    double inverse_squares = kappa * kappa * (1 / (grid.dx() * grid.dx()) + 1 / (grid.dy() * grid.dy()));
    if (flow.diffusion == Diffusion::explicit_) inverse_squares += 1 / (grid.dz_min() * grid.dz_min());
    if (flow.diffusion == Diffusion::implicit) inverse_squares = 1 / (height * height);
    return 4 * diffusivity * inverse_squares / 2.51;
  };
  double largest = rate(flow.viscosity);
  for (const ScalarParameters& scalar : flow.scalars) largest = std::max(largest, rate(flow.diffusivity(scalar)));
  return largest;
}

}  // namespace sluice
