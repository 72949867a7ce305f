// The pressure equation (2): exchanges the halos of u*, solves, and exchanges those of phi. The second part of a
// substep.
#include "solver/projection.hpp"

#include <utility>

#include "core/device/parallel_for.hpp"
#include "core/device/together.hpp"
#include "solver/forcing.hpp"
#include "solver/state/vector_view.hpp"

namespace sluice {

namespace {

/// Sums the mean of v*.
struct SpanwiseMean {
  View3<const real> v;
  Metrics m;
  SLUICE_INLINE real compute(Cell c) const { return v(c.i, c.j, c.k); }
  SLUICE_INLINE double write(Cell c, real value) const { return weighted_by_height(value, c.k, m); }
};

Box3 plane_of(const Box3& box) {
  return {{0, 0, 0}, {box.extent(0), box.extent(1), 1}};
}

}  // namespace

Projection::Projection(const Communicator& comm, const Decomposition& decomposition, const Grid& grid,
                       const Metrics& metrics, const Walls& walls, HaloExchange& halo, const FlowParameters& flow,
                       const ExchangeSet& exchanges)
    : box_(decomposition.x_pencil(comm.rank())),
      metrics_(metrics),
      walls_(&walls),
      halo_(&halo),
      order_(flow.order),
      spanwise_(flow.spanwise_forcing.kind != ForcingKind::none),
      poisson_(comm, decomposition, {grid.dx(), grid.dy(), grid.z_nodes(), flow.order, flow.periodic_z},
               flow.tridiagonal, exchanges) {
  if (!fills_ahead(decomposition, flow)) return;
  above_.emplace(plane_of(box_), Location::center, 0, HaloWidth{0, 0});
  if (flow.diffusion == Diffusion::implicit_z) below_.emplace(plane_of(box_), Location::center, 0, HaloWidth{0, 0});
}

MemoryNeed Projection::memory(const Decomposition& decomposition, int rank, const FlowParameters& flow, bool on_gpu) {
  MemoryNeed need = PoissonSolver::memory(decomposition, rank, flow.tridiagonal, flow.periodic_z);
  if (on_gpu) need.held += PoissonSolver::transform_memory(decomposition, rank, flow.order);
  if (fills_ahead(decomposition, flow))
    need.held += (flow.diffusion == Diffusion::implicit_z ? 2 : 1) *
                 Field::memory(plane_of(decomposition.x_pencil(rank)), 0, HaloWidth{0, 0});
  return need;
}

bool Projection::fills_ahead(const Decomposition& decomposition, const FlowParameters& flow) {
  return flow.diffusion != Diffusion::implicit &&
         HaloExchange::neighbours_own_two_planes(decomposition, flow.periodic_z);
}

PhaseWords Projection::words(const std::array<std::int64_t, 3>& cells, const ProcessGrid& processes,
                             const FlowParameters& flow, LineStrategy lines) {
  PhaseWords words = PoissonSolver::words(cells, processes, lines, flow.order);
  if (flow.spanwise_forcing.kind != ForcingKind::none) ++words[TimedPhase::divergence];  // the mean of v*
  return words;
}

HaloExchange::PlanesBeyond Projection::beyond() {
  return {below_ ? &*below_ : nullptr, above_ ? &*above_ : nullptr};
}

void Projection::solve(VectorField& star, double gamma_dt, Field& phi, PhaseTimers& timers,
                       const HaloExchange::Fields& ahead, const std::function<void()>& when_summed) {
  const int points = points_beside(order_);  // what div reads below a cell, and grad above it
  {
    const PhaseTimers::Scope scope(timers, TimedPhase::halo_exchange);
    // div u* reads v(j-1) and w(k-1) only; of order 4, also v(j-2) and v(j+1).
    halo_->update_y(star.v, {.lower = points, .upper = points - 1});
    halo_->update_z(star.w, {.lower = 1, .upper = 0});
    walls_->apply_normal(star.w);
    if (!ahead.empty()) halo_->start_z(ahead);
  }
  v_star_sum_.for_host = divergence_.sum_of_u.for_host = !when_summed;
  divergence_.when_summed = when_summed;
  if (spanwise_) {
    const PhaseTimers::Scope scope(timers, TimedPhase::divergence);
    reduce_sum("mean of v*", box_.local(), SpanwiseMean{std::as_const(star.v).view(), metrics_}, v_star_sum_);
  }
  // The right-hand side is op::divergence of u* / (gamma dt).
  divergence_.rows = {
      vector_view(std::as_const(star)), order_, metrics_.inv_dx, metrics_.inv_dy, metrics_.inv_dz, metrics_.dz,
      static_cast<real>(1 / gamma_dt)};
  poisson_.solve(divergence_, phi, timers);
  device::join_aside();
  const PhaseTimers::Scope scope(timers, TimedPhase::halo_exchange);
  // The correction of order 4 reads phi(j-1) to phi(j+2).
  halo_->update_y(phi, {.lower = 1, .upper = points});
  if (ahead.empty()) {
    halo_->update_z(phi, {.lower = 1, .upper = 1});
  } else {
    halo_->update_z(phi, beyond());
    halo_->finish_z();
  }
  walls_->apply(base_fields()[pressure_field], phi);
}

}  // namespace sluice
