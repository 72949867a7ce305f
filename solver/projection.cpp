#include "solver/projection.hpp"

#include <utility>

#include "core/device/parallel_for.hpp"
#include "solver/correction/correction.hpp"
#include "solver/correction/pressure_update.hpp"
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

/// Eq. (3) in one cell.
template <Order order>
struct Correct {
  using CellType = op::CellFor<order>;
  Correction correction;
  VectorView<real> star;
  Metrics m;
  SLUICE_INLINE void operator()(CellType c) const {
    const Around phi = around(correction.phi, c);
    const CellType here = relative_cell(c);
    const Metrics mk = m.seen_from(c.k);
    const std::ptrdiff_t at = star.offset(c);
    const real response = correction.response[c.k];
    const real u = corrected_u<order>(star.u[at], correction, phi, here, mk, response);
    const real v = corrected_v<order>(star.v[at], correction, phi, here, mk, response);
    const real w = corrected_w(star.w[at], correction, phi, here, mk);
    star.u[at] = u;
    star.v[at] = v;
    star.w[at] = w;
  }
};

/// Eq. (6) in one cell.
template <Order order>
struct UpdatePressure {
  using CellType = op::CellFor<order>;
  Correction correction;
  real* p;  ///< address of cell (0, 0, 0)
  std::ptrdiff_t stride_y, stride_z;
  Metrics m;
  SLUICE_INLINE void operator()(CellType c) const {
    const Around phi = around(correction.phi, c);
    real& here = p[c.i + c.j * stride_y + c.k * stride_z];
    here = updated_pressure(here, correction, phi, relative_cell(c), m.seen_from(c.k));
  }
};

/// Eqs. (3) and (6) in the same pass.
template <Order order>
struct CorrectWithPressure {
  using CellType = op::CellFor<order>;
  Correct<order> velocity;
  UpdatePressure<order> pressure;
  SLUICE_INLINE void operator()(CellType c) const {
    velocity(c);
    pressure(c);
  }
};

template <Order order>
UpdatePressure<order> pressure_update_of(const Metrics& metrics, Field& p, const Correction& correction) {
  const View3<real> view = p.view();
  return {correction, view.origin, view.stride_y, view.stride_z, metrics};
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
               flow.tridiagonal, exchanges) {}

void Projection::solve(VectorField& star, double gamma_dt, Field& phi, PhaseTimers& timers) {
  const bool wide = order_ == Order::fourth;
  {
    const PhaseTimers::Scope scope(timers, TimedPhase::halo_exchange);
    // div u* reads v(j-1) and w(k-1) only; of order 4, also v(j-2) and v(j+1).
    halo_->update_y(star.v, {.lower = wide ? 2 : 1, .upper = wide ? 1 : 0});
    halo_->update_z(star.w, {.lower = 1, .upper = 0});
    walls_->apply_normal(star.w);
  }
  if (spanwise_) {
    const PhaseTimers::Scope scope(timers, TimedPhase::divergence);
    reduce_sum("mean of v*", box_.local(), SpanwiseMean{std::as_const(star.v).view(), metrics_}, v_star_sum_);
  }
  // The right-hand side is op::divergence of u* / (gamma dt).
  divergence_.rows = {
      vector_view(std::as_const(star)), order_, metrics_.inv_dx, metrics_.inv_dy, metrics_.inv_dz, metrics_.dz,
      static_cast<real>(1 / gamma_dt)};
  poisson_.solve(divergence_, phi, timers);
  const PhaseTimers::Scope scope(timers, TimedPhase::halo_exchange);
  // The correction of order 4 reads phi(j-1) to phi(j+2).
  halo_->update_y(phi, {.lower = 1, .upper = wide ? 2 : 1});
  halo_->update_z(phi, {.lower = 1, .upper = 1});
  walls_->apply_neumann(phi);
}

void Projection::correct(VectorField& star, Field* p, const Correction& correction, const Box3& cells) {
  op::with_order(order_, [&](auto order) {
    const Correct<order> velocity{correction, vector_view(star), metrics_};
    if (p == nullptr) {
      parallel_for("correction", cells, velocity);
    } else {
      parallel_for("correction", cells,
                   CorrectWithPressure<order>{velocity, pressure_update_of<order>(metrics_, *p, correction)});
    }
  });
}

void Projection::correct(VectorField& star, Field* p, const Correction& correction) {
  correct(star, p, correction, box_.local());
}

void Projection::update_pressure(Field& p, const Correction& correction) {
  op::with_order(order_, [&](auto order) {
    parallel_for("pressure", box_.local(), pressure_update_of<order>(metrics_, p, correction));
  });
}

PendingCorrection Projection::correct_rim(VectorField& star, Field* p, const Correction& correction) {
  const PendingCorrection pending{correction, p != nullptr, reach_of(order_), box_.ny(), box_.nz()};
  const Box3 inside = inside_rim(pending);
  if (inside.empty()) {
    correct(star, p, correction);
    return {};
  }
  const auto part = [&](std::int64_t y0, std::int64_t y1, std::int64_t z0, std::int64_t z1) {
    correct(star, p, correction, {{0, y0, z0}, {box_.nx(), y1, z1}});
  };
  const auto [ny, nz] = std::pair(box_.extent(1), box_.extent(2));
  part(0, inside.lo[1], 0, nz);
  part(inside.hi[1], ny, 0, nz);
  part(inside.lo[1], inside.hi[1], 0, inside.lo[2]);
  part(inside.lo[1], inside.hi[1], inside.hi[2], nz);
  return pending;
}

void Projection::complete(VectorField& velocity, Field& p, const PendingCorrection& pending) {
  if (!pending.any()) return;
  correct(velocity, pending.with_pressure ? &p : nullptr, pending.correction, inside_rim(pending));
}

Box3 Projection::inside_rim(const PendingCorrection& pending) const {
  constexpr int rim_z = PendingCorrection::rim_z;
  return {{0, pending.rim_y, rim_z}, {box_.nx(), box_.ny() - pending.rim_y, box_.nz() - rim_z}};
}

}  // namespace sluice
