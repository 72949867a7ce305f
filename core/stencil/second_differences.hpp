#pragma once
// Second differences on the staggered grid: second-order along z, of the order of the template along x and y. Fields F,
// cells C and metrics M: as in core/stencil/first_differences.hpp.
#include "core/stencil/lines.hpp"
#include "core/stencil/order.hpp"

namespace sluice::op {

template <Order order, class F, class C, class M>
SLUICE_INLINE real d2dx2(const F& f, const C& c, const M& m) {
  return second_difference<order>(along_x(f, c)) * (m.inv_dx * m.inv_dx);
}
template <Order order, class F, class C, class M>
SLUICE_INLINE real d2dy2(const F& f, const C& c, const M& m) {
  return second_difference<order>(along_y(f, c)) * (m.inv_dy * m.inv_dy);
}
/// Lz of eq. (5) for u, v, p and phi, which are at centres in z.
template <class F, class C, class M>
SLUICE_INLINE real d2dz2_center(const F& f, const C& c, const M& m) {
  const real below = (f(c.i, c.j, c.k - 1) - f(c.i, c.j, c.k)) * m.inv_dz_center[c.k - 1];
  return multiply_add(f(c.i, c.j, c.k + 1) - f(c.i, c.j, c.k), m.inv_dz_center[c.k], below) * m.inv_dz[c.k];
}
/// Lz of eq. (5) for w, which is at z faces.
template <class F, class C, class M>
SLUICE_INLINE real d2dz2_face(const F& f, const C& c, const M& m) {
  return ((f(c.i, c.j, c.k + 1) - f(c.i, c.j, c.k)) * m.inv_dz[c.k + 1] -
          (f(c.i, c.j, c.k) - f(c.i, c.j, c.k - 1)) * m.inv_dz[c.k]) *
         m.inv_dz_center[c.k];
}

}  // namespace sluice::op
