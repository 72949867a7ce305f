#pragma once
// u* of one cell, component by component; shared by all forms of the momentum sweep.
#include "solver/correction/velocity.hpp"
#include "solver/momentum/momentum.hpp"
#include "solver/momentum/operators.hpp"

namespace sluice {

/// Arrays of a momentum sweep. star holds the old tendency on entry and u* on return. If the pending correction
/// includes p, the sweep writes updated_p.
struct MomentumArrays {
  View3<const real> p;
  View3<real> updated_p;
  View3<real> tendency[3], star[3];  ///< of u, v and w
  Metrics m;
  real nu, alpha_dt, beta_dt, gamma_dt, half_nu_gamma_dt;
  bool keeps_tendency = true;
  VelocityToCorrect velocity;
};

/// The number of the component at `face`: 0 for u, 1 for v, 2 for w.
constexpr int component_of(Location face) {
  return face == Location::x_face ? 0 : face == Location::y_face ? 1 : 2;
}

/// R and u* of one component in one cell.
struct Prediction {
  real tendency, star;
};

/// u* = u + alpha dt R + beta dt R_prev [+ gamma dt nu/2 Lz u - gamma dt dp/dx] of the component f at `face`;
/// z-implicit diffusion alone reads p. f, w, p: the fields around the cell.
template <class Kind, Location face, class T, class F, class P, class C, class M>
SLUICE_INLINE Prediction predict(const MomentumArrays& a, const T& transports, const F& f, const F& w, const P& p,
                                 const C& c, const M& m, real old_tendency) {
  constexpr Order order = Kind::order;
  const real r = op::tendency<order, face, Kind::implicit_z>(transports, f, w, c, m, a.nu);
  real star = f(c.i, c.j, c.k) + a.alpha_dt * r;
  if constexpr (Kind::implicit_z) star -= a.gamma_dt * op::gradient_at<order, face>(p, c, m);
  if constexpr (!Kind::first) star += a.beta_dt * old_tendency;
  if constexpr (Kind::implicit_z) star += a.half_nu_gamma_dt * op::d2dz2<face>(f, c, m);
  return {r, star};
}

/// The same for one cell of the arrays.
template <class Kind, Location face>
SLUICE_INLINE void update_component(const MomentumArrays& a, const CorrectedVelocity& velocity,
                                    const op::CellFor<Kind::order>& c) {
  constexpr int n = component_of(face);
  const auto& [u, v, w] = velocity;
  const auto& f = face == Location::x_face ? u : face == Location::y_face ? v : w;
  const auto transports = op::transports_of<Kind::order, face>(u, v, c, a.m);
  const real old = Kind::first ? real(0) : a.star[n](c.i, c.j, c.k);
  const Prediction result = predict<Kind, face>(a, transports, f, w, a.p, c, a.m, old);
  if (a.keeps_tendency) a.tendency[n](c.i, c.j, c.k) = result.tendency;
  a.star[n](c.i, c.j, c.k) = result.star;
}

/// The components at `faces` together, so that u, v, w and p are read from memory once.
template <class Kind, Location... faces>
struct UpdateComponents {
  using CellType = op::CellFor<Kind::order>;
  MomentumArrays a;
  CorrectedVelocity velocity;
  SLUICE_INLINE void operator()(CellType c) const { (update_component<Kind, faces>(a, velocity, c), ...); }
};
template <class Kind>
using UpdateVelocity = UpdateComponents<Kind, Location::x_face, Location::y_face, Location::z_face>;

/// SweepForm as compile-time constants.
template <Order the_order, bool is_first, bool is_implicit_z>
struct SweepKind {
  static constexpr Order order = the_order;
  static constexpr bool first = is_first;
  static constexpr bool implicit_z = is_implicit_z;
};

/// Calls action with the SweepKind that corresponds to `form`.
template <class Action>
void with_constants(const SweepForm& form, const Action& action) {
  op::with_order(form.order, [&](auto constant) {
    constexpr Order o = constant;
    if (form.first) {
      form.implicit_z ? action(SweepKind<o, true, true>{}) : action(SweepKind<o, true, false>{});
    } else {
      form.implicit_z ? action(SweepKind<o, false, true>{}) : action(SweepKind<o, false, false>{});
    }
  });
}

}  // namespace sluice
