#pragma once
// Eqs. (3) and (6) at one point, for a sweep of its own and for the momentum sweep, which corrects u* while it reads
// it. Both give the same bits.
#include "solver/momentum/operators.hpp"
#include "solver/state/pending_correction.hpp"

namespace sluice {

/// u at the x face of the cell. phi: the field around the cell; response: g at its height.
template <Order order, class F, class C, class M>
SLUICE_INLINE real corrected_u(real star, const Correction& a, const F& phi, const C& c, const M& m, real response) {
  const real forced = multiply_add(a.force_x, response, star);
  return multiply_add(-a.gamma_dt, op::ddx_center_to_face<order>(phi, c, m), forced);
}
/// v at the y face.
template <Order order, class F, class C, class M>
SLUICE_INLINE real corrected_v(real star, const Correction& a, const F& phi, const C& c, const M& m, real response) {
  const real forced = multiply_add(a.force_y, response, star);
  return multiply_add(-a.gamma_dt, op::ddy_center_to_face<order>(phi, c, m), forced);
}
/// w at the z face.
template <class F, class C, class M>
SLUICE_INLINE real corrected_w(real star, const Correction& a, const F& phi, const C& c, const M& m) {
  return multiply_add(-a.gamma_dt, op::ddz_center_to_face(phi, c, m), star);
}

/// p at the centre, eq. (6).
template <class F, class C, class M>
SLUICE_INLINE real updated_pressure(real old, const Correction& a, const F& phi, const C& c, const M& m) {
  return old + multiply_add(-a.half_nu_gamma_dt, op::d2dz2_center(phi, c, m), phi(c.i, c.j, c.k));
}

}  // namespace sluice
