#pragma once
// u* of one cell, component by component; shared by all forms of the momentum sweep.
#include <type_traits>

#include "solver/momentum/operators.hpp"

namespace sluice {

/// Arrays of a momentum sweep. star holds the old tendency on entry and u* on return.
struct MomentumArrays {
  View3<const real> u, v, w, p;
  View3<real> tendency_u, tendency_v, tendency_w;
  View3<real> star_u, star_v, star_w;
  Metrics m;
  real nu, alpha_dt, beta_dt, gamma_dt, half_nu_gamma_dt;
};

/// R and u* of one component in one cell.
struct Prediction {
  real tendency, star;
};

/// u* = u + alpha dt R + beta dt R_prev [+ gamma dt nu/2 Lz u - gamma dt dp/dx]; z-implicit diffusion alone reads p.
template <bool first, bool implicit_z, class F, class M>
SLUICE_INLINE Prediction predict_u(const MomentumArrays& a, const F& u, const F& v, const F& w, const F& p, Cell c,
                                   const M& m, real old_tendency) {
  const real r = op::tendency_u<implicit_z>(u, v, w, c, m, a.nu);
  real star = u(c.i, c.j, c.k) + a.alpha_dt * r;
  if constexpr (implicit_z) star -= a.gamma_dt * op::ddx_center_to_face(p, c, m);
  if constexpr (!first) star += a.beta_dt * old_tendency;
  if constexpr (implicit_z) star += a.half_nu_gamma_dt * op::d2dz2_center(u, c, m);
  return {r, star};
}

template <bool first, bool implicit_z, class F, class M>
SLUICE_INLINE Prediction predict_v(const MomentumArrays& a, const F& u, const F& v, const F& w, const F& p, Cell c,
                                   const M& m, real old_tendency) {
  const real r = op::tendency_v<implicit_z>(u, v, w, c, m, a.nu);
  real star = v(c.i, c.j, c.k) + a.alpha_dt * r;
  if constexpr (implicit_z) star -= a.gamma_dt * op::ddy_center_to_face(p, c, m);
  if constexpr (!first) star += a.beta_dt * old_tendency;
  if constexpr (implicit_z) star += a.half_nu_gamma_dt * op::d2dz2_center(v, c, m);
  return {r, star};
}

template <bool first, bool implicit_z, class F, class M>
SLUICE_INLINE Prediction predict_w(const MomentumArrays& a, const F& u, const F& v, const F& w, const F& p, Cell c,
                                   const M& m, real old_tendency) {
  const real r = op::tendency_w<implicit_z>(u, v, w, c, m, a.nu);
  real star = w(c.i, c.j, c.k) + a.alpha_dt * r;
  if constexpr (implicit_z) star -= a.gamma_dt * op::ddz_center_to_face(p, c, m);
  if constexpr (!first) star += a.beta_dt * old_tendency;
  if constexpr (implicit_z) star += a.half_nu_gamma_dt * op::d2dz2_face(w, c, m);
  return {r, star};
}

/// R and u* of one cell, from and to the arrays.
template <bool first, bool implicit_z>
SLUICE_INLINE void update_u(const MomentumArrays& a, Cell c) {
  const real old = first ? real(0) : a.star_u(c.i, c.j, c.k);
  const Prediction result = predict_u<first, implicit_z>(a, a.u, a.v, a.w, a.p, c, a.m, old);
  a.tendency_u(c.i, c.j, c.k) = result.tendency;
  a.star_u(c.i, c.j, c.k) = result.star;
}
template <bool first, bool implicit_z>
SLUICE_INLINE void update_v(const MomentumArrays& a, Cell c) {
  const real old = first ? real(0) : a.star_v(c.i, c.j, c.k);
  const Prediction result = predict_v<first, implicit_z>(a, a.u, a.v, a.w, a.p, c, a.m, old);
  a.tendency_v(c.i, c.j, c.k) = result.tendency;
  a.star_v(c.i, c.j, c.k) = result.star;
}
template <bool first, bool implicit_z>
SLUICE_INLINE void update_w(const MomentumArrays& a, Cell c) {
  const real old = first ? real(0) : a.star_w(c.i, c.j, c.k);
  const Prediction result = predict_w<first, implicit_z>(a, a.u, a.v, a.w, a.p, c, a.m, old);
  a.tendency_w(c.i, c.j, c.k) = result.tendency;
  a.star_w(c.i, c.j, c.k) = result.star;
}

/// All three components together, so that u, v, w and p are read from memory once.
template <bool first, bool implicit_z>
struct UpdateVelocity {
  MomentumArrays a;
  SLUICE_INLINE void operator()(Cell c) const {
    update_u<first, implicit_z>(a, c);
    update_v<first, implicit_z>(a, c);
    update_w<first, implicit_z>(a, c);
  }
};

/// Calls action(first, implicit_z) with the run-time choice as compile-time constants.
template <class Action>
void with_constants(bool first, bool implicit_z, const Action& action) {
  if (first) {
    implicit_z ? action(std::true_type{}, std::true_type{}) : action(std::true_type{}, std::false_type{});
  } else {
    implicit_z ? action(std::false_type{}, std::true_type{}) : action(std::false_type{}, std::false_type{});
  }
}

}  // namespace sluice
