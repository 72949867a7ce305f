#pragma once
// u* of one cell, component by component; shared by all forms of the momentum sweep.
#include "solver/correction/velocity.hpp"
#include "solver/momentum/operators.hpp"

namespace sluice {

/// Arrays of a momentum sweep. star holds the old tendency on entry and u* on return. If the correction that is left
/// includes p, the sweep writes updated_p.
struct MomentumArrays {
  View3<const real> p;
  View3<real> updated_p;
  View3<real> tendency_u, tendency_v, tendency_w;
  View3<real> star_u, star_v, star_w;
  Metrics m;
  real nu, alpha_dt, beta_dt, gamma_dt, half_nu_gamma_dt;
  VelocityToCorrect velocity;
};

/// R and u* of one component in one cell.
struct Prediction {
  real tendency, star;
};

/// u* = u + alpha dt R + beta dt R_prev [+ gamma dt nu/2 Lz u - gamma dt dp/dx]; z-implicit diffusion alone reads p.
template <Order order, bool first, bool implicit_z, class T, class F, class P, class C, class M>
SLUICE_INLINE Prediction predict_u(const MomentumArrays& a, const T& transports, const F& u, const F& w, const P& p,
                                   const C& c, const M& m, real old_tendency) {
  const real r = op::tendency_u<order, implicit_z>(transports, u, w, c, m, a.nu);
  real star = u(c.i, c.j, c.k) + a.alpha_dt * r;
  if constexpr (implicit_z) star -= a.gamma_dt * op::ddx_center_to_face<order>(p, c, m);
  if constexpr (!first) star += a.beta_dt * old_tendency;
  if constexpr (implicit_z) star += a.half_nu_gamma_dt * op::d2dz2_center(u, c, m);
  return {r, star};
}

template <Order order, bool first, bool implicit_z, class T, class F, class P, class C, class M>
SLUICE_INLINE Prediction predict_v(const MomentumArrays& a, const T& transports, const F& v, const F& w, const P& p,
                                   const C& c, const M& m, real old_tendency) {
  const real r = op::tendency_v<order, implicit_z>(transports, v, w, c, m, a.nu);
  real star = v(c.i, c.j, c.k) + a.alpha_dt * r;
  if constexpr (implicit_z) star -= a.gamma_dt * op::ddy_center_to_face<order>(p, c, m);
  if constexpr (!first) star += a.beta_dt * old_tendency;
  if constexpr (implicit_z) star += a.half_nu_gamma_dt * op::d2dz2_center(v, c, m);
  return {r, star};
}

template <Order order, bool first, bool implicit_z, class T, class F, class P, class C, class M>
SLUICE_INLINE Prediction predict_w(const MomentumArrays& a, const T& transports, const F& w, const P& p, const C& c,
                                   const M& m, real old_tendency) {
  const real r = op::tendency_w<order, implicit_z>(transports, w, c, m, a.nu);
  real star = w(c.i, c.j, c.k) + a.alpha_dt * r;
  if constexpr (implicit_z) star -= a.gamma_dt * op::ddz_center_to_face(p, c, m);
  if constexpr (!first) star += a.beta_dt * old_tendency;
  if constexpr (implicit_z) star += a.half_nu_gamma_dt * op::d2dz2_face(w, c, m);
  return {r, star};
}

/// R and u* of one cell. u, v, w, p: the fields around it; the old tendency and the results are in the arrays.
template <Order order, bool first, bool implicit_z, class T, class F>
SLUICE_INLINE void update_u(const MomentumArrays& a, const T& transports, const F& u, const F& w, const F& p,
                            const op::CellFor<order>& c) {
  const real old = first ? real(0) : a.star_u(c.i, c.j, c.k);
  const Prediction result = predict_u<order, first, implicit_z>(a, transports, u, w, p, c, a.m, old);
  a.tendency_u(c.i, c.j, c.k) = result.tendency;
  a.star_u(c.i, c.j, c.k) = result.star;
}
template <Order order, bool first, bool implicit_z, class T, class F>
SLUICE_INLINE void update_v(const MomentumArrays& a, const T& transports, const F& v, const F& w, const F& p,
                            const op::CellFor<order>& c) {
  const real old = first ? real(0) : a.star_v(c.i, c.j, c.k);
  const Prediction result = predict_v<order, first, implicit_z>(a, transports, v, w, p, c, a.m, old);
  a.tendency_v(c.i, c.j, c.k) = result.tendency;
  a.star_v(c.i, c.j, c.k) = result.star;
}
template <Order order, bool first, bool implicit_z, class T, class F>
SLUICE_INLINE void update_w(const MomentumArrays& a, const T& transports, const F& w, const F& p,
                            const op::CellFor<order>& c) {
  const real old = first ? real(0) : a.star_w(c.i, c.j, c.k);
  const Prediction result = predict_w<order, first, implicit_z>(a, transports, w, p, c, a.m, old);
  a.tendency_w(c.i, c.j, c.k) = result.tendency;
  a.star_w(c.i, c.j, c.k) = result.star;
}

/// All three components together, so that u, v, w and p are read from memory once.
template <Order order, bool first, bool implicit_z>
struct UpdateVelocity {
  using CellType = op::CellFor<order>;
  MomentumArrays a;
  CorrectedVelocity velocity;
  SLUICE_INLINE void operator()(CellType c) const {
    const auto& [u, v, w] = velocity;
    update_u<order, first, implicit_z>(a, op::transports_of_u<order>(u, v, c, a.m), u, w, a.p, c);
    update_v<order, first, implicit_z>(a, op::transports_of_v<order>(u, v, c, a.m), v, w, a.p, c);
    update_w<order, first, implicit_z>(a, op::transports_of_w(u, v, c, a.m), w, a.p, c);
  }
};

/// How a sweep is done, as compile-time constants.
template <Order the_order, bool is_first, bool is_implicit_z>
struct SweepKind {
  static constexpr Order order = the_order;
  static constexpr bool first = is_first;  ///< the old tendency is not read
  static constexpr bool implicit_z = is_implicit_z;
};

/// Calls action(SweepKind) with the run-time choice.
template <class Action>
void with_constants(Order order, bool first, bool implicit_z, const Action& action) {
  op::with_order(order, [&](auto constant) {
    constexpr Order o = constant;
    if (first) {
      implicit_z ? action(SweepKind<o, true, true>{}) : action(SweepKind<o, true, false>{});
    } else {
      implicit_z ? action(SweepKind<o, false, true>{}) : action(SweepKind<o, false, false>{});
    }
  });
}

}  // namespace sluice
