#include "solver/projection.hpp"

#include <type_traits>
#include <utility>

#include "core/device/parallel_for.hpp"
#include "poisson/fft/divergence_rows.hpp"
#include "solver/forcing.hpp"
#include "solver/momentum/operators.hpp"
#include "solver/state/vector_view.hpp"
#include "solver/time_step_limit.hpp"

namespace sluice {

namespace {

/// Sums the mean of v*.
struct SpanwiseMean {
  View3<const real> v;
  Metrics m;
  SLUICE_INLINE real compute(Cell c) const { return v(c.i, c.j, c.k); }
  SLUICE_INLINE double write(Cell c, real value) const { return weighted_by_height(value, c.k, m); }
};

/// u = u* + f response(z) - gamma dt grad phi, eq. (3). Also returns the cell's advective rate for a reduction. The
/// ordinary flow has no force along y, and none in its kernel.
template <Order order, bool spanwise>
struct Correct {
  using CellType = op::CellFor<order>;
  View3<const real> phi;
  VectorView<real> star;
  const real* response;
  Metrics m;
  real gamma_dt, force, force_y;

  struct Computed {
    real u, v, w;
  };
  SLUICE_INLINE Computed compute(CellType c) const {
    const Around phi_here = around(phi, c);
    const CellType here = relative_cell(c);
    const Metrics mk = m.seen_from(c.k);
    const std::ptrdiff_t at = star.offset(c);
    real v = star.v[at];
    if constexpr (spanwise) v += force_y * response[c.k];
    return {star.u[at] + force * response[c.k] - gamma_dt * op::ddx_center_to_face<order>(phi_here, here, mk),
            v - gamma_dt * op::ddy_center_to_face<order>(phi_here, here, mk),
            star.w[at] - gamma_dt * op::ddz_center_to_face(phi_here, here, mk)};
  }
  SLUICE_INLINE double write(CellType c, const Computed& corrected) const {
    const std::ptrdiff_t at = star.offset(c);
    star.u[at] = corrected.u;
    star.v[at] = corrected.v;
    star.w[at] = corrected.w;
    return advective_rate<order>(corrected.u, corrected.v, corrected.w, c.k, m);
  }
};

/// Eq. (3), and eq. (6) in the same pass: p = p + phi - gamma dt nu/2 Lz phi.
template <Order order, bool spanwise>
struct CorrectWithPressure {
  using CellType = op::CellFor<order>;
  Correct<order, spanwise> velocity;
  real* p;  ///< address of cell (0, 0, 0) in an array of the velocity's layout
  real half_nu_gamma_dt;

  struct Computed {
    typename Correct<order, spanwise>::Computed velocity;
    real p;
  };
  SLUICE_INLINE Computed compute(CellType c) const {
    const Around phi = around(velocity.phi, c);
    const real change =
        phi(0, 0, 0) - half_nu_gamma_dt * op::d2dz2_center(phi, relative_cell(c), velocity.m.seen_from(c.k));
    return {velocity.compute(c), p[velocity.star.offset(c)] + change};
  }
  SLUICE_INLINE double write(CellType c, const Computed& corrected) const {
    p[velocity.star.offset(c)] = corrected.p;
    return velocity.write(c, corrected.velocity);
  }
};

template <Order order, bool spanwise>
Correct<order, spanwise> correction(VectorField& star, const Field& phi, const Projection::UniformForce& force,
                                    const Metrics& metrics, double gamma_dt) {
  return {phi.view(),
          vector_view(star),
          force.response,
          metrics,
          static_cast<real>(gamma_dt),
          static_cast<real>(force.x),
          static_cast<real>(force.y)};
}

/// Calls action(order, spanwise) with both as constants.
void with_kernel(Order order, bool spanwise, auto&& action) {
  op::with_order(order, [&](auto of_order) {
    spanwise ? action(of_order, std::true_type{}) : action(of_order, std::false_type{});
  });
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
    const PhaseTimers::Scope scope(timers, "halo exchange");
    // div u* reads v(j-1) and w(k-1) only; of order 4, also v(j-2) and v(j+1).
    halo_->update_y(star.v, {.lower = wide ? 2 : 1, .upper = wide ? 1 : 0});
    halo_->update_z(star.w, {.lower = 1, .upper = 0});
    walls_->apply_normal(star.w);
  }
  if (spanwise_) {
    const PhaseTimers::Scope scope(timers, "divergence");
    reduce_sum("mean of v*", box_.local(), SpanwiseMean{std::as_const(star.v).view(), metrics_}, v_star_sum_);
  }
  // The right-hand side is op::divergence of u* / (gamma dt).
  const DivergenceRows rows{
      vector_view(std::as_const(star)), order_, metrics_.inv_dx, metrics_.inv_dy, metrics_.inv_dz, metrics_.dz,
      static_cast<real>(1 / gamma_dt)};
  poisson_.solve_divergence(rows, phi, u_star_sum_, timers);
  const PhaseTimers::Scope scope(timers, "halo exchange");
  // The correction of order 4 reads phi(j-1) to phi(j+2).
  halo_->update_y(phi, {.lower = 1, .upper = wide ? 2 : 1});
  halo_->update_z(phi, {.lower = 1, .upper = 1});
  walls_->apply_neumann(phi);
}

void Projection::correct(VectorField& star, const Field& phi, const UniformForce& force, double gamma_dt) {
  with_kernel(order_, spanwise_, [&](auto order, auto spanwise) {
    reduce_max("correction", box_.local(), correction<order, spanwise>(star, phi, force, metrics_, gamma_dt),
               largest_rate_);
  });
}

void Projection::correct(VectorField& star, Field& p, const Field& phi, const UniformForce& force, double gamma_dt,
                         double half_nu_gamma_dt) {
  SLUICE_REQUIRE(p.row_length() == star.u.row_length() && p.halo() == star.u.halo(), "p and u must have one layout");
  with_kernel(order_, spanwise_, [&](auto order, auto spanwise) {
    const CorrectWithPressure<order, spanwise> kernel{correction<order, spanwise>(star, phi, force, metrics_, gamma_dt),
                                                      p.view().origin, static_cast<real>(half_nu_gamma_dt)};
    reduce_max("correction", box_.local(), kernel, largest_rate_);
  });
}

}  // namespace sluice
