#pragma once
// The terms of the discrete equations, each a small function of views and a cell. Names say where a term is located: a
// value at an x face belongs to the cell left of it, at a y face to the cell in front, at a z face to the cell below.
// Central and symmetry-preserving; second-order along z, of the order of the template along x and y, where order 4
// combines differences over one and over three spacings: Verstappen & Veldman, J. Comput. Phys. 187, 343 (2003);
// Morinishi et al., J. Comput. Phys. 143, 90 (1998).
//
// Fields F, cells C and metrics M: as in core/stencil/first_differences.hpp, which has the first differences and div u.
// The second differences are in core/stencil/second_differences.hpp.
#include "core/decomp/field.hpp"
#include "core/decomp/view3.hpp"
#include "core/device/parallel_for.hpp"
#include "core/stencil/first_differences.hpp"
#include "core/stencil/lines.hpp"
#include "core/stencil/order.hpp"
#include "core/stencil/second_differences.hpp"
#include "solver/grid/grid.hpp"

namespace sluice::op {

using In = View3<const real>;

/// Lz f of a field at `location`.
template <Location location, class F, class C, class M>
SLUICE_INLINE real d2dz2(const F& f, const C& c, const M& m) {
  if constexpr (location == Location::z_face) return d2dz2_face(f, c, m);
  return d2dz2_center(f, c, m);
}

/// The difference quotient of p from centres to `face`, normal to it.
template <Order order, Location face, class F, class C, class M>
SLUICE_INLINE real gradient_at(const F& p, const C& c, const M& m) {
  if constexpr (face == Location::x_face) return ddx_center_to_face<order>(p, c, m);
  if constexpr (face == Location::y_face) return ddy_center_to_face<order>(p, c, m);
  return ddz_center_to_face(p, c, m);
}

// --- momentum fluxes: transporting velocity, interpolated, times transported velocity, averaged with weights 1/2 ---

template <class F>
SLUICE_INLINE real ww_at_center(const F& w, int i, int j, int k) {
  const real sum = w(i, j, k - 1) + w(i, j, k);
  return quarter * sum * sum;
}
/// u v on the vertical edge at x face i and y face j, both interpolated.
template <Order order, class F, class C>
SLUICE_INLINE real uv_at_xy_edge(const F& u, const F& v, const C& c) {
  return quarter * sum_above<order>(along_y(u, c), 0) * sum_above<order>(along_x(v, c), 0);
}
/// u w on the spanwise edge at x face i and z face k: flux of u through the z face with w interpolated in x.
template <Order order, class F, class C>
SLUICE_INLINE real uw_at_xz_edge(const F& u, const F& w, const C& c, int k) {
  return quarter * (u(c.i, c.j, k) + u(c.i, c.j, k + 1)) * sum_above<order>(along_x(w, c, c.j, k), 0);
}
/// v w on the streamwise edge at y face j and z face k.
template <Order order, class F, class C>
SLUICE_INLINE real vw_at_yz_edge(const F& v, const F& w, const C& c, int k) {
  return quarter * (v(c.i, c.j, k) + v(c.i, c.j, k + 1)) * sum_above<order>(along_y(w, c.i, c.j, k), 0);
}

/// The mass flux that carries w through a side of its control volume, doubled: the sum of those of both cells that it
/// overlaps.
template <class Line, class M>
struct MassFluxes {
  Line below, above;
  const M& m;
  int k;
  SLUICE_INLINE real operator()(int n) const { return m.dz[k] * below(n) + m.dz[k + 1] * above(n); }
};
template <class Line, class M>
SLUICE_INLINE MassFluxes<Line, M> mass_fluxes(const Line& below, const Line& above, const M& m, int k) {
  return {below, above, m, k};
}

// --- advection: div(u u), one component each ---

/// Twice the velocities, relative to the grid, that carry a component through the x and y sides of its control volumes;
/// for w, mass fluxes.
template <class X, class Y>
struct Transports {
  X x;  ///< x(n): at the side n + 1/2 volumes further on in x
  Y y;  ///< along y
};
template <class X, class Y>
SLUICE_INLINE Transports<X, Y> transports_through(const X& x, const Y& y) {
  return {x, y};
}

/// Of the component at `face`.
template <Order order, Location face, class F, class C, class M>
SLUICE_INLINE auto transports_of(const F& u, const F& v, const C& c, const M& m) {
  if constexpr (face == Location::x_face) {
    return transports_through(less(sums_above<order>(along_x(u, c)), 2 * m.velocity), x_sums_along_y<order>(v, c));
  } else if constexpr (face == Location::y_face) {
    return transports_through(less(y_sums_along_x<order>(u, c), 2 * m.velocity), sums_above<order>(along_y(v, c)));
  } else {
    const real of_grid = m.velocity * (m.dz[c.k] + m.dz[c.k + 1]);
    return transports_through(less(mass_fluxes(along_x(u, c), along_x(u, c, c.j, c.k + 1), m, c.k), of_grid),
                              mass_fluxes(along_y(v, c), along_y(v, c.i, c.j, c.k + 1), m, c.k));
  }
}

/// f: the component at `face`, u, v or w.
template <Order order, Location face, class T, class F, class C, class M>
SLUICE_INLINE real advection(const T& transports, const F& f, const F& w, const C& c, const M& m) {
  const real along_x_and_y = flux_difference<order>(transports.x, along_x(f, c)) * m.inv_dx +
                             flux_difference<order>(transports.y, along_y(f, c)) * m.inv_dy;
  if constexpr (face == Location::x_face) {
    return along_x_and_y +
           (uw_at_xz_edge<order>(f, w, c, c.k) - uw_at_xz_edge<order>(f, w, c, c.k - 1)) * m.inv_dz[c.k];
  } else if constexpr (face == Location::y_face) {
    return along_x_and_y +
           (vw_at_yz_edge<order>(f, w, c, c.k) - vw_at_yz_edge<order>(f, w, c, c.k - 1)) * m.inv_dz[c.k];
  } else {
    return (along_x_and_y + (ww_at_center(w, c.i, c.j, c.k + 1) - ww_at_center(w, c.i, c.j, c.k))) *
           m.inv_dz_center[c.k];
  }
}

// --- velocities interpolated for the Coriolis force, eq. (11): with the volumes of their control volumes as weights,
// the interpolation of one component to another is the adjoint of that back, so that the force does no work ---

template <Order order, class F, class C>
SLUICE_INLINE real v_at_x_face(const F& v, const C& c) {
  return quarter * sum_above<order>(y_sums_along_x<order, -1>(v, c), 0);
}
template <Order order, class F, class C>
SLUICE_INLINE real u_at_y_face(const F& u, const C& c) {
  return quarter * sum_above<order>(x_sums_along_y<order, -1>(u, c), 0);
}
template <Order order, class F, class C>
SLUICE_INLINE real w_at_x_face(const F& w, const C& c) {
  return quarter * (sum_above<order>(along_x(w, c, c.j, c.k - 1), 0) + sum_above<order>(along_x(w, c, c.j, c.k), 0));
}
template <Order order, class F, class C>
SLUICE_INLINE real w_at_y_face(const F& w, const C& c) {
  return quarter *
         (sum_above<order>(along_y(w, c.i, c.j, c.k - 1), 0) + sum_above<order>(along_y(w, c.i, c.j, c.k), 0));
}
/// F / dzc_k or G / dzc_k, the mass flux that carries w, per height, interpolated to the z face.
template <Order order, class F, class C, class M>
SLUICE_INLINE real u_at_z_face(const F& u, const C& c, const M& m) {
  const auto flux = mass_fluxes(along_x(u, c, c.j, c.k), along_x(u, c, c.j, c.k + 1), m, c.k);
  return quarter * sum_above<order>(flux, -1) * m.inv_dz_center[c.k];
}
template <Order order, class F, class C, class M>
SLUICE_INLINE real v_at_z_face(const F& v, const C& c, const M& m) {
  const auto flux = mass_fluxes(along_y(v, c.i, c.j, c.k), along_y(v, c.i, c.j, c.k + 1), m, c.k);
  return quarter * sum_above<order>(flux, -1) * m.inv_dz_center[c.k];
}

// --- a scalar at centres, interpolated to a face ---

/// Along z with weights 1/2, as the flux of the scalar through z faces has it; along x and y with eq. (8).
template <Order order, Location face, class F, class C>
SLUICE_INLINE real scalar_at_face(const F& c, const C& at) {
  if constexpr (face == Location::x_face) return sum_above<order>(along_x(c, at), 0) / 2;
  if constexpr (face == Location::y_face) return sum_above<order>(along_y(c, at), 0) / 2;
  return (c(at.i, at.j, at.k) + c(at.i, at.j, at.k + 1)) / 2;
}

// --- the tendency R of eq. (1): -div(u u) + nu lap u; z-implicit diffusion leaves out nu Lz u ---

template <Order order, Location face, bool implicit_z, class T, class F, class C, class M>
SLUICE_INLINE real tendency(const T& transports, const F& f, const F& w, const C& c, const M& m, real nu) {
  const real diffusion = d2dx2<order>(f, c, m) + d2dy2<order>(f, c, m) + (implicit_z ? real(0) : d2dz2<face>(f, c, m));
  return nu * diffusion - advection<order, face>(transports, f, w, c, m);
}

}  // namespace sluice::op
