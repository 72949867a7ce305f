#include "solver/momentum/body_forces.hpp"

#include <algorithm>

#include "core/device/parallel_for.hpp"
#include "core/support/error.hpp"
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

/// The force per unit of c - reference along one axis, eq. (13): g beta (c - reference), interpolated.
template <Order order, Location at>
struct Buoyancy {
  using CellType = op::CellFor<order>;
  View3<const real> c;
  Forced force;
  real factor, reference;
  SLUICE_INLINE void operator()(CellType here) const {
    force.add(here, factor * (op::scalar_at_face<order, at>(c, here) - reference));
  }
};

}  // namespace

BodyForces::BodyForces(const Metrics& metrics, const FlowParameters& flow)
    : metrics_(metrics), order_(flow.order), rotation_(flow.rotation), buoyancy_(flow.buoyancy) {
  if (!buoyancy_.active()) return;
  const auto scalar = std::ranges::find(flow.scalars, buoyancy_.scalar, &ScalarParameters::name);
  SLUICE_REQUIRE(scalar != flow.scalars.end(), "buoyancy needs a scalar of the flow");
  buoyant_ = static_cast<std::size_t>(scalar - flow.scalars.begin());
}

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
    if (!buoyancy_.active()) return;
    const View3<const real> c = state.transported.at(buoyant_).field.view();
    const auto reference = static_cast<real>(buoyancy_.reference);
    const auto factor = [&](std::size_t axis) {
      return static_cast<real>(-buoyancy_.coefficient * buoyancy_.direction[axis]);
    };
    if (factor(0) != 0)
      parallel_for("buoyancy", box, Buoyancy<order, Location::x_face>{c, force_u, factor(0), reference});
    if (factor(1) != 0)
      parallel_for("buoyancy", box, Buoyancy<order, Location::y_face>{c, force_v, factor(1), reference});
    if (factor(2) != 0)
      parallel_for("buoyancy", box, Buoyancy<order, Location::z_face>{c, force_w, factor(2), reference});
  });
}

}  // namespace sluice
