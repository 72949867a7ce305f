#include "solver/projection.hpp"

#include "core/device/parallel_for.hpp"
#include "solver/operators.hpp"

namespace sluice {

namespace {

using op::In;

/// rhs = div u* / (gamma dt), eq. (2).
struct DivergenceOverGammaDt {
  In u, v, w;
  View3<real> rhs;
  Metrics m;
  real inv_gamma_dt;
  SLUICE_INLINE void operator()(Cell c) const { rhs(c.i, c.j, c.k) = op::divergence(u, v, w, c, m) * inv_gamma_dt; }
};

/// u = u* + (what the forcing adds) - gamma dt grad phi, eq. (3); p = p + phi - gamma dt nu/2 Lz phi, eqs. (4) and (6).
template <bool implicit_z>
struct Correct {
  In phi;
  View3<real> u, v, w, p;
  const real* added;
  Metrics m;
  real gamma_dt, half_nu_gamma_dt;
  SLUICE_INLINE void operator()(Cell c) const {
    u(c.i, c.j, c.k) += added[c.k] - gamma_dt * op::ddx_center_to_face(phi, c, m);
    v(c.i, c.j, c.k) -= gamma_dt * op::ddy_center_to_face(phi, c, m);
    w(c.i, c.j, c.k) -= gamma_dt * op::ddz_center_to_face(phi, c, m);
    real dp = phi(c.i, c.j, c.k);
    if constexpr (implicit_z) dp -= half_nu_gamma_dt * op::d2dz2_center(phi, c, m);
    p(c.i, c.j, c.k) += dp;
  }
};

}  // namespace

Projection::Projection(const Communicator& comm, const Decomposition& decomposition, const Grid& grid,
                       const Metrics& metrics, const Walls& walls, HaloExchange& halo, TridiagonalMethod method,
                       Exchange& exchange)
    : metrics_(metrics),
      walls_(&walls),
      halo_(&halo),
      phi_(decomposition.x_pencil(comm.rank()), Location::center, PoissonSolver::row_length(grid.cells()[0])),
      poisson_(comm, decomposition, {grid.dx(), grid.dy(), grid.z_nodes()}, method, exchange) {}

void Projection::solve(VectorField& star, double gamma_dt, PhaseTimers& timers) {
  {
    const PhaseTimers::Scope scope(timers, "halo exchange");
    halo_->update({&star.v, &star.w});
    walls_->apply_normal(star.w);
  }
  {
    const PhaseTimers::Scope scope(timers, "divergence");
    parallel_for("divergence", phi_.local_box(),
                 DivergenceOverGammaDt{star.u.view(), star.v.view(), star.w.view(), phi_.view(), metrics_,
                                       static_cast<real>(1 / gamma_dt)});
  }
  poisson_.solve(phi_, timers);
  const PhaseTimers::Scope scope(timers, "halo exchange");
  halo_->update({&phi_});
  walls_->apply_neumann(phi_);
}

void Projection::correct(VectorField& star, Field& p, const real* added, double gamma_dt,
                         double half_nu_gamma_dt) const {
  const auto run = [&](auto kernel) { parallel_for("correction", phi_.local_box(), kernel); };
  const auto gdt = static_cast<real>(gamma_dt);
  if (half_nu_gamma_dt == 0) {
    run(Correct<false>{phi_.view(), star.u.view(), star.v.view(), star.w.view(), p.view(), added, metrics_, gdt, 0});
  } else {
    run(Correct<true>{phi_.view(), star.u.view(), star.v.view(), star.w.view(), p.view(), added, metrics_, gdt,
                      static_cast<real>(half_nu_gamma_dt)});
  }
}

}  // namespace sluice
