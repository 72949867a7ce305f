#include "solver/projection.hpp"

#include "core/device/parallel_for.hpp"
#include "solver/forcing.hpp"
#include "solver/operators.hpp"
#include "solver/time_step_limit.hpp"

namespace sluice {

namespace {

using op::In;

/// rhs = div u* / (gamma dt), eq. (2); and what u* adds to its mean, while it is at hand.
struct DivergenceOverGammaDt {
  In u, v, w;
  View3<real> rhs;
  Metrics m;
  real inv_gamma_dt;
  SLUICE_INLINE void operator()(Cell c, double (&u_sum)[1]) const {
    rhs(c.i, c.j, c.k) = op::divergence(u, v, w, c, m) * inv_gamma_dt;
    u_sum[0] = weighted_by_height(u(c.i, c.j, c.k), c.k, m);
  }
};

/// u = u* + (what the forcing adds) - gamma dt grad phi, eq. (3). Returns the cell's advective rate.
struct Correct {
  In phi;
  View3<real> u, v, w;
  const real* response;
  Metrics m;
  real gamma_dt, added;
  SLUICE_INLINE double operator()(Cell c) const {
    const real new_u = u(c.i, c.j, c.k) + added * response[c.k] - gamma_dt * op::ddx_center_to_face(phi, c, m);
    const real new_v = v(c.i, c.j, c.k) - gamma_dt * op::ddy_center_to_face(phi, c, m);
    const real new_w = w(c.i, c.j, c.k) - gamma_dt * op::ddz_center_to_face(phi, c, m);
    u(c.i, c.j, c.k) = new_u;
    v(c.i, c.j, c.k) = new_v;
    w(c.i, c.j, c.k) = new_w;
    return advective_rate(new_u, new_v, new_w, c.k, m);
  }
};

/// Eq. (3), and p = p + phi - gamma dt nu/2 Lz phi, eq. (6), while phi is at hand.
struct CorrectWithPressure {
  Correct velocity;
  View3<real> p;
  real half_nu_gamma_dt;
  SLUICE_INLINE double operator()(Cell c) const {
    const In& phi = velocity.phi;
    p(c.i, c.j, c.k) += phi(c.i, c.j, c.k) - half_nu_gamma_dt * op::d2dz2_center(phi, c, velocity.m);
    return velocity(c);
  }
};

Correct correction(VectorField& star, const Field& phi, const Projection::Added& added, const Metrics& metrics,
                   double gamma_dt) {
  return {phi.view(),
          star.u.view(),
          star.v.view(),
          star.w.view(),
          added.response,
          metrics,
          static_cast<real>(gamma_dt),
          static_cast<real>(added.factor)};
}

}  // namespace

Projection::Projection(const Communicator& comm, const Decomposition& decomposition, const Grid& grid,
                       const Metrics& metrics, const Walls& walls, HaloExchange& halo, TridiagonalMethod method,
                       Exchange& exchange)
    : box_(decomposition.x_pencil(comm.rank())),
      metrics_(metrics),
      walls_(&walls),
      halo_(&halo),
      poisson_(comm, decomposition, {grid.dx(), grid.dy(), grid.z_nodes()}, method, exchange) {}

void Projection::solve(VectorField& star, double gamma_dt, Field& phi, PhaseTimers& timers) {
  {
    const PhaseTimers::Scope scope(timers, "halo exchange");
    halo_->update({&star.v, &star.w});
    walls_->apply_normal(star.w);
  }
  {
    const PhaseTimers::Scope scope(timers, "divergence");
    reduce_sum("divergence", box_.local(),
               DivergenceOverGammaDt{star.u.view(), star.v.view(), star.w.view(), phi.view(), metrics_,
                                     static_cast<real>(1 / gamma_dt)},
               u_star_sum_);
  }
  poisson_.solve(phi, timers);
  const PhaseTimers::Scope scope(timers, "halo exchange");
  halo_->update({&phi});
  walls_->apply_neumann(phi);
}

void Projection::correct(VectorField& star, const Field& phi, const Added& added, double gamma_dt) {
  reduce_max("correction", box_.local(), correction(star, phi, added, metrics_, gamma_dt), largest_rate_);
}

void Projection::correct(VectorField& star, Field& p, const Field& phi, const Added& added, double gamma_dt,
                         double half_nu_gamma_dt) {
  reduce_max("correction", box_.local(),
             CorrectWithPressure{correction(star, phi, added, metrics_, gamma_dt), p.view(),
                                 static_cast<real>(half_nu_gamma_dt)},
             largest_rate_);
}

}  // namespace sluice
