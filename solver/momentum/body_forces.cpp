#include "solver/momentum/body_forces.hpp"

#include <algorithm>
#include <tuple>

#include "core/device/parallel_for.hpp"
#include "core/support/error.hpp"
#include "solver/momentum/operators.hpp"
#include "solver/momentum/plane_ring.hpp"

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
// components of the velocity. V: a view of a whole array, or what is around one row.

template <Order order, class V>
struct CoriolisAboutX {
  using CellType = op::CellFor<order>;
  V v, w;
  Forced force_v, force_w;
  Metrics m;
  real twice_rate, geostrophic_v;
  SLUICE_INLINE void operator()(CellType c) const {
    force_v.add(c, twice_rate * op::w_at_y_face<order>(w, c));
    force_w.add(c, -twice_rate * (op::v_at_z_face<order>(v, c, m) - geostrophic_v));
  }
};

template <Order order, class V>
struct CoriolisAboutY {
  using CellType = op::CellFor<order>;
  V u, w;
  Forced force_u, force_w;
  Metrics m;
  real twice_rate, geostrophic_u;
  SLUICE_INLINE void operator()(CellType c) const {
    force_u.add(c, -twice_rate * op::w_at_x_face<order>(w, c));
    force_w.add(c, twice_rate * (op::u_at_z_face<order>(u, c, m) - geostrophic_u));
  }
};

template <Order order, class V>
struct CoriolisAboutZ {
  using CellType = op::CellFor<order>;
  V u, v;
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

/// What the forces read and where they go: whole arrays, or what is seen from one row.
template <class V>
struct ForceArrays {
  V u, v, w;
  View3<const real> c;  ///< the buoyant scalar
  Forced force_u, force_v, force_w;
  Metrics m;
};

/// Calls action(name, kernel) for each force.
template <class V, class Action>
void for_each_force(const ForceArrays<V>& a, const RotationParameters& rotation, const BuoyancyParameters& buoyancy,
                    Order the_order, const Action& action) {
  const auto& [rate_x, rate_y, rate_z] = rotation.rate;
  const auto geostrophic_u = static_cast<real>(rotation.geostrophic[0]);
  const auto geostrophic_v = static_cast<real>(rotation.geostrophic[1]);
  op::with_order(the_order, [&](auto constant) {
    constexpr Order order = constant;
    if (rate_x != 0) {
      action("Coriolis force about x", CoriolisAboutX<order, V>{a.v, a.w, a.force_v, a.force_w, a.m,
                                                                static_cast<real>(2 * rate_x), geostrophic_v});
    }
    if (rate_y != 0) {
      action("Coriolis force about y", CoriolisAboutY<order, V>{a.u, a.w, a.force_u, a.force_w, a.m,
                                                                static_cast<real>(2 * rate_y), geostrophic_u});
    }
    if (rate_z != 0) {
      action("Coriolis force about z",
             CoriolisAboutZ<order, V>{a.u, a.v, a.force_u, a.force_v, static_cast<real>(2 * rate_z), geostrophic_u,
                                      geostrophic_v});
    }
    if (!buoyancy.active()) return;
    const auto reference = static_cast<real>(buoyancy.reference);
    const auto factor = [&](std::size_t axis) {
      return static_cast<real>(-buoyancy.coefficient * buoyancy.direction[axis]);
    };
    if (factor(0) != 0) action("buoyancy", Buoyancy<order, Location::x_face>{a.c, a.force_u, factor(0), reference});
    if (factor(1) != 0) action("buoyancy", Buoyancy<order, Location::y_face>{a.c, a.force_v, factor(1), reference});
    if (factor(2) != 0) action("buoyancy", Buoyancy<order, Location::z_face>{a.c, a.force_w, factor(2), reference});
  });
}

/// All but the velocity.
ForceArrays<View3<const real>> whole_arrays(View3<const real> buoyant, double alpha_dt, const Metrics& metrics,
                                            VectorField& tendency, VectorField& star) {
  const auto forced = [&](Field VectorField::*component) {
    return Forced{(tendency.*component).view(), (star.*component).view(), static_cast<real>(alpha_dt)};
  };
  return {.u = {},
          .v = {},
          .w = {},
          .c = buoyant,
          .force_u = forced(&VectorField::u),
          .force_v = forced(&VectorField::v),
          .force_w = forced(&VectorField::w),
          .m = metrics};
}

ForceArrays<RowWindow> seen_from(const ForceArrays<View3<const real>>& a, const VelocityRow& row) {
  const auto moved = [&](const Forced& f) {
    return Forced{f.tendency.seen_from(row.j, row.k), f.star.seen_from(row.j, row.k), f.alpha_dt};
  };
  return {row.u,
          row.v,
          row.w,
          a.c.origin != nullptr ? a.c.seen_from(row.j, row.k) : a.c,
          moved(a.force_u),
          moved(a.force_v),
          moved(a.force_w),
          a.m.seen_from(row.k)};
}

}  // namespace

BodyForces::BodyForces(const Metrics& metrics, const FlowParameters& flow)
    : metrics_(metrics), order_(flow.order), rotation_(flow.rotation), buoyancy_(flow.buoyancy) {
  if (!buoyancy_.active()) return;
  const auto scalar = std::ranges::find(flow.scalars, buoyancy_.scalar, &ScalarParameters::name);
  SLUICE_REQUIRE(scalar != flow.scalars.end(), "buoyancy needs a scalar of the flow");
  buoyant_ = static_cast<std::size_t>(scalar - flow.scalars.begin());
}

View3<const real> BodyForces::buoyant_scalar(const std::vector<TransportedField>& scalars) const {
  if (!buoyancy_.active()) return {};
  return scalars.at(buoyant_).field.view();
}

void BodyForces::add(const VelocityToCorrect& velocity, const std::vector<TransportedField>& scalars, double alpha_dt,
                     VectorField& tendency, VectorField& star) const {
  auto arrays = whole_arrays(buoyant_scalar(scalars), alpha_dt, metrics_, tendency, star);
  if (rotation_.active()) {
    const CorrectedVelocity corrected = velocity.corrected();
    std::tie(arrays.u, arrays.v, arrays.w) = std::tie(corrected.u, corrected.v, corrected.w);
  }
  const Box3 box = star.u.local_box();
  for_each_force(arrays, rotation_, buoyancy_, order_,
                 [&](const char* name, const auto& kernel) { parallel_for(name, box, kernel); });
}

RowTask BodyForces::row_task(const std::vector<TransportedField>& scalars, double alpha_dt, VectorField& tendency,
                             VectorField& star) const {
  const auto arrays = whole_arrays(buoyant_scalar(scalars), alpha_dt, metrics_, tendency, star);
  const int nx = star.u.box().nx();
  return [this, arrays, nx](const VelocityRow& row) {
    for_each_force(seen_from(arrays, row), rotation_, buoyancy_, order_, [&](const char*, const auto& kernel) {
      detail::for_row<CellOf<std::decay_t<decltype(kernel)>>>(nx, 0, 0, kernel);
    });
  };
}

}  // namespace sluice
