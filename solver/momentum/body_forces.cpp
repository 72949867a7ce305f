#include "solver/momentum/body_forces.hpp"

#include "core/device/parallel_for.hpp"
#include "solver/momentum/operators.hpp"

namespace sluice {

namespace {

/// Where the force on one component goes.
struct Forced {
  View3<real> tendency, star;
  real alpha_dt;

  template <class C>
  SLUICE_INLINE void add(const C& c, real force) const {
    tendency(c.i, c.j, c.k) += force;
    star(c.i, c.j, c.k) += alpha_dt * force;
  }
};

// The Coriolis force -2 Omega x (u - geostrophic), eq. (11), one axis at a time: each component of Omega turns two
// components of the velocity.

template <Order order>
struct CoriolisAboutX {
  using CellType = op::CellFor<order>;
  View3<const real> v, w;
  Forced force_v, force_w;
  Metrics m;
  real twice_rate, geostrophic_v;
  SLUICE_INLINE void operator()(CellType c) const {
    force_v.add(c, twice_rate * op::w_at_y_face<order>(w, c));
    force_w.add(c, -twice_rate * (op::v_at_z_face<order>(v, c, m) - geostrophic_v));
  }
};

template <Order order>
struct CoriolisAboutY {
  using CellType = op::CellFor<order>;
  View3<const real> u, w;
  Forced force_u, force_w;
  Metrics m;
  real twice_rate, geostrophic_u;
  SLUICE_INLINE void operator()(CellType c) const {
    force_u.add(c, -twice_rate * op::w_at_x_face<order>(w, c));
    force_w.add(c, twice_rate * (op::u_at_z_face<order>(u, c, m) - geostrophic_u));
  }
};

template <Order order>
struct CoriolisAboutZ {
  using CellType = op::CellFor<order>;
  View3<const real> u, v;
  Forced force_u, force_v;
  real twice_rate, geostrophic_u, geostrophic_v;
  SLUICE_INLINE void operator()(CellType c) const {
    force_u.add(c, twice_rate * (op::v_at_x_face<order>(v, c) - geostrophic_v));
    force_v.add(c, -twice_rate * (op::u_at_y_face<order>(u, c) - geostrophic_u));
  }
};

}  // namespace

BodyForces::BodyForces(const Metrics& metrics, const FlowParameters& flow)
    : metrics_(metrics), order_(flow.order), rotation_(flow.rotation) {}

void BodyForces::add(const State& state, double alpha_dt, VectorField& tendency, VectorField& star) const {
  const auto forced = [&](Field VectorField::*component) {
    return Forced{(tendency.*component).view(), (star.*component).view(), static_cast<real>(alpha_dt)};
  };
  const View3<const real> u = state.velocity.u.view();
  const View3<const real> v = state.velocity.v.view();
  const View3<const real> w = state.velocity.w.view();
  const Forced force_u = forced(&VectorField::u);
  const Forced force_v = forced(&VectorField::v);
  const Forced force_w = forced(&VectorField::w);
  const auto& [rate_x, rate_y, rate_z] = rotation_.rate;
  const auto geostrophic_u = static_cast<real>(rotation_.geostrophic[0]);
  const auto geostrophic_v = static_cast<real>(rotation_.geostrophic[1]);
  const Box3 box = state.p.local_box();
  op::with_order(order_, [&](auto order) {
    if (rate_x != 0) {
      const CoriolisAboutX<order> kernel{
          v, w, force_v, force_w, metrics_, static_cast<real>(2 * rate_x), geostrophic_v};
      parallel_for("Coriolis force about x", box, kernel);
    }
    if (rate_y != 0) {
      const CoriolisAboutY<order> kernel{
          u, w, force_u, force_w, metrics_, static_cast<real>(2 * rate_y), geostrophic_u};
      parallel_for("Coriolis force about y", box, kernel);
    }
    if (rate_z != 0) {
      const CoriolisAboutZ<order> kernel{
          u, v, force_u, force_v, static_cast<real>(2 * rate_z), geostrophic_u, geostrophic_v};
      parallel_for("Coriolis force about z", box, kernel);
    }
  });
}

}  // namespace sluice
