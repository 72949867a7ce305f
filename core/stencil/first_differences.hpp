#pragma once
// First differences on the staggered grid, and the divergence. Names say where a difference is located: a value at an x
// face belongs to the cell left of it, at a y face to the cell in front, at a z face to the cell below. Second-order
// along z, of the order of the template along x and y.
//
// A field F is a view of a whole array or a window around one cell: anything that provides f(i, j, k). A cell C is a
// Cell for order 2, a WideCell for order 4. Metrics M: those of solver/grid/grid.hpp or a copy of the values near one
// plane. inv_dz[k] is 1 / height of cell k, inv_dz_center[k] that of the distance between the centres of cells k and
// k + 1, so it is located at z face k.
#include "core/stencil/lines.hpp"
#include "core/stencil/order.hpp"

namespace sluice::op {

template <Order order, class F, class C, class M>
SLUICE_INLINE real ddx_center_to_face(const F& f, const C& c, const M& m) {
  return difference_above<order>(along_x(f, c), 0) * m.inv_dx;
}
template <Order order, class F, class C, class M>
SLUICE_INLINE real ddy_center_to_face(const F& f, const C& c, const M& m) {
  return difference_above<order>(along_y(f, c), 0) * m.inv_dy;
}
template <class F, class C, class M>
SLUICE_INLINE real ddz_center_to_face(const F& f, const C& c, const M& m) {
  return (f(c.i, c.j, c.k + 1) - f(c.i, c.j, c.k)) * m.inv_dz_center[c.k];
}
template <Order order, class F, class C, class M>
SLUICE_INLINE real ddx_face_to_center(const F& f, const C& c, const M& m) {
  return difference_above<order>(along_x(f, c), -1) * m.inv_dx;
}
template <Order order, class F, class C, class M>
SLUICE_INLINE real ddy_face_to_center(const F& f, const C& c, const M& m) {
  return difference_above<order>(along_y(f, c), -1) * m.inv_dy;
}
template <class F, class C, class M>
SLUICE_INLINE real ddz_face_to_center(const F& f, const C& c, const M& m) {
  return (f(c.i, c.j, c.k) - f(c.i, c.j, c.k - 1)) * m.inv_dz[c.k];
}

/// div u at centres: the left-hand side of continuity, and of eq. (2).
template <Order order, class U, class V, class W, class C, class M>
SLUICE_INLINE real divergence(const U& u, const V& v, const W& w, const C& c, const M& m) {
  return ddx_face_to_center<order>(u, c, m) + ddy_face_to_center<order>(v, c, m) + ddz_face_to_center(w, c, m);
}

}  // namespace sluice::op
