#pragma once
// The terms of the equation of a scalar c, which is at the cell centres:  dc/dt + div(u c) = kappa lap c + source.
#include "solver/correction/face_reader.hpp"
#include "solver/momentum/operators.hpp"

namespace sluice::op {

/// From views of a velocity that is corrected.
template <class V, class C>
SLUICE_INLINE auto face_velocities(const V& u, const V& v, const V& w, const C& at) {
  using X = decltype(along_x(u, at));
  using Y = decltype(along_y(v, at));
  return FaceVelocities<X, Y>{along_x(u, at), along_y(v, at), w(at.i, at.j, at.k - 1), w(at.i, at.j, at.k)};
}

/// Twice the velocity, relative to the grid, at the faces along a line.
template <class Line>
struct TwiceLess {
  Line line;
  real twice_constant;
  SLUICE_INLINE real operator()(int n) const { return 2 * line(n) - twice_constant; }
};

/// The flux of c through the upper z face of cell (i, j, k), with c averaged with weights 1/2.
template <class F>
SLUICE_INLINE real wc_at_z_face(real w, const F& c, int i, int j, int k) {
  return w * (c(i, j, k) + c(i, j, k + 1)) / 2;
}

/// div(u c) at centres. Along x and y with eq. (9), in which U is the velocity on the faces: c is conserved, and c^2
/// too, because the velocity is free of the divergence of the same order.
template <Order order, class X, class Y, class F, class C, class M>
SLUICE_INLINE real advection_of_scalar(const FaceVelocities<X, Y>& faces, const F& c, const C& at, const M& m) {
  const TwiceLess<X> along_x_faces{faces.u, 2 * m.velocity};
  const TwiceLess<Y> along_y_faces{faces.v, real(0)};
  return flux_difference<order>(along_x_faces, along_x(c, at)) * m.inv_dx +
         flux_difference<order>(along_y_faces, along_y(c, at)) * m.inv_dy +
         (wc_at_z_face(faces.w_above, c, at.i, at.j, at.k) - wc_at_z_face(faces.w_below, c, at.i, at.j, at.k - 1)) *
             m.inv_dz[at.k];
}
template <Order order, class V, class F, class C, class M>
SLUICE_INLINE real advection_of_scalar(const V& u, const V& v, const V& w, const F& c, const C& at, const M& m) {
  return advection_of_scalar<order>(face_velocities(u, v, w, at), c, at, m);
}

/// Its tendency R without sources: -div(u c) + kappa lap c; z-implicit diffusion leaves out kappa Lz c.
template <Order order, bool implicit_z, class X, class Y, class F, class C, class M>
SLUICE_INLINE real tendency_of_scalar(const FaceVelocities<X, Y>& faces, const F& c, const C& at, const M& m,
                                      real kappa) {
  const real diffusion =
      d2dx2<order>(c, at, m) + d2dy2<order>(c, at, m) + (implicit_z ? real(0) : d2dz2_center(c, at, m));
  return kappa * diffusion - advection_of_scalar<order>(faces, c, at, m);
}

}  // namespace sluice::op
