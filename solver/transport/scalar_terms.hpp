#pragma once
// The terms of the equation of a scalar c, which is at the cell centres:  dc/dt + div(u c) = kappa lap c + source.
#include "solver/momentum/operators.hpp"

namespace sluice::op {

/// Twice the velocity, relative to the grid, at the faces along a line.
template <class Line>
struct TwiceLess {
  Line line;
  real twice_constant;
  SLUICE_INLINE real operator()(int n) const { return 2 * line(n) - twice_constant; }
};
template <class Line>
TwiceLess(Line, real) -> TwiceLess<Line>;

/// The flux of c through the upper z face of cell (i, j, k), with c averaged with weights 1/2.
template <class F>
SLUICE_INLINE real wc_at_z_face(const F& w, const F& c, int i, int j, int k) {
  return w(i, j, k) * (c(i, j, k) + c(i, j, k + 1)) / 2;
}

/// div(u c) at centres. Along x and y with eq. (9), in which U is the velocity on the faces: c is conserved, and c^2
/// too, because the velocity is free of the divergence of the same order.
template <Order order, class F, class C, class M>
SLUICE_INLINE real advection_of_scalar(const F& u, const F& v, const F& w, const F& c, const C& at, const M& m) {
  const TwiceLess along_x_faces{along_x(u, at), 2 * m.velocity};
  const TwiceLess along_y_faces{along_y(v, at), real(0)};
  return flux_difference<order>(along_x_faces, along_x(c, at)) * m.inv_dx +
         flux_difference<order>(along_y_faces, along_y(c, at)) * m.inv_dy +
         (wc_at_z_face(w, c, at.i, at.j, at.k) - wc_at_z_face(w, c, at.i, at.j, at.k - 1)) * m.inv_dz[at.k];
}

/// Its tendency R without sources: -div(u c) + kappa lap c; z-implicit diffusion leaves out kappa Lz c.
template <Order order, bool implicit_z, class F, class C, class M>
SLUICE_INLINE real tendency_of_scalar(const F& u, const F& v, const F& w, const F& c, const C& at, const M& m,
                                      real kappa) {
  const real diffusion =
      d2dx2<order>(c, at, m) + d2dy2<order>(c, at, m) + (implicit_z ? real(0) : d2dz2_center(c, at, m));
  return kappa * diffusion - advection_of_scalar<order>(u, v, w, c, at, m);
}

}  // namespace sluice::op
