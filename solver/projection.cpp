#include "solver/projection.hpp"

#include <utility>

#include "core/device/parallel_for.hpp"
#include "solver/forcing.hpp"
#include "solver/momentum/operators.hpp"
#include "solver/state/vector_view.hpp"
#include "solver/time_step_limit.hpp"

namespace sluice {

namespace {

/// rhs = div u* / (gamma dt), eq. (2). Also sums the cell's share of the mean of u*.
template <Order order>
struct DivergenceOverGammaDt {
  using CellType = op::CellFor<order>;
  VectorView<const real> star;
  View3<real> rhs;
  Metrics m;
  real inv_gamma_dt;

  struct Computed {
    real rhs, u;
  };
  SLUICE_INLINE Computed compute(CellType c) const {
    const std::ptrdiff_t at = star.offset(c);
    const real divergence = op::divergence<order>(star.around(star.u, at), star.around(star.v, at),
                                                  star.around(star.w, at), relative_cell(c), m.seen_from(c.k));
    return {divergence * inv_gamma_dt, star.u[at]};
  }
  SLUICE_INLINE double write(CellType c, const Computed& computed) const {
    rhs(c.i, c.j, c.k) = computed.rhs;
    return weighted_by_height(computed.u, c.k, m);
  }
};

/// u = u* + f response(z) - gamma dt grad phi, eq. (3). Also returns the cell's advective rate for a reduction.
template <Order order>
struct Correct {
  using CellType = op::CellFor<order>;
  View3<const real> phi;
  VectorView<real> star;
  const real* response;
  Metrics m;
  real gamma_dt, force;

  struct Computed {
    real u, v, w;
  };
  SLUICE_INLINE Computed compute(CellType c) const {
    const Around phi_here = around(phi, c);
    const CellType here = relative_cell(c);
    const Metrics mk = m.seen_from(c.k);
    const std::ptrdiff_t at = star.offset(c);
    return {star.u[at] + force * response[c.k] - gamma_dt * op::ddx_center_to_face<order>(phi_here, here, mk),
            star.v[at] - gamma_dt * op::ddy_center_to_face<order>(phi_here, here, mk),
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
template <Order order>
struct CorrectWithPressure {
  using CellType = op::CellFor<order>;
  Correct<order> velocity;
  real* p;  ///< address of cell (0, 0, 0) in an array of the velocity's layout
  real half_nu_gamma_dt;

  struct Computed {
    typename Correct<order>::Computed velocity;
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

template <Order order>
Correct<order> correction(VectorField& star, const Field& phi, const Projection::UniformForce& force,
                          const Metrics& metrics, double gamma_dt) {
  return {phi.view(), vector_view(star),           force.response,
          metrics,    static_cast<real>(gamma_dt), static_cast<real>(force.factor)};
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
      poisson_(comm, decomposition, {grid.dx(), grid.dy(), grid.z_nodes(), flow.order}, flow.tridiagonal, exchanges) {}

void Projection::solve(VectorField& star, double gamma_dt, Field& phi, PhaseTimers& timers) {
  const bool wide = order_ == Order::fourth;
  {
    const PhaseTimers::Scope scope(timers, "halo exchange");
    // div u* reads v(j-1) and w(k-1) only; of order 4, also v(j-2) and v(j+1).
    halo_->update_y(star.v, {.lower = wide ? 2 : 1, .upper = wide ? 1 : 0});
    halo_->update_z(star.w, {.lower = 1, .upper = 0});
    walls_->apply_normal(star.w);
  }
  {
    const PhaseTimers::Scope scope(timers, "divergence");
    op::with_order(order_, [&](auto order) {
      const DivergenceOverGammaDt<order> kernel{vector_view(std::as_const(star)), phi.view(), metrics_,
                                                static_cast<real>(1 / gamma_dt)};
      reduce_sum("divergence", box_.local(), kernel, u_star_sum_);
    });
  }
  poisson_.solve(phi, timers);
  const PhaseTimers::Scope scope(timers, "halo exchange");
  // The correction of order 4 reads phi(j-1) to phi(j+2).
  halo_->update_y(phi, {.lower = 1, .upper = wide ? 2 : 1});
  halo_->update_z(phi, {.lower = 1, .upper = 1});
  walls_->apply_neumann(phi);
}

void Projection::correct(VectorField& star, const Field& phi, const UniformForce& force, double gamma_dt) {
  op::with_order(order_, [&](auto order) {
    reduce_max("correction", box_.local(), correction<order>(star, phi, force, metrics_, gamma_dt), largest_rate_);
  });
}

void Projection::correct(VectorField& star, Field& p, const Field& phi, const UniformForce& force, double gamma_dt,
                         double half_nu_gamma_dt) {
  SLUICE_REQUIRE(p.row_length() == star.u.row_length() && p.halo() == star.u.halo(), "p and u must have one layout");
  op::with_order(order_, [&](auto order) {
    const CorrectWithPressure<order> kernel{correction<order>(star, phi, force, metrics_, gamma_dt), p.view().origin,
                                            static_cast<real>(half_nu_gamma_dt)};
    reduce_max("correction", box_.local(), kernel, largest_rate_);
  });
}

}  // namespace sluice
