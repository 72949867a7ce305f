#pragma once
// The terms of the discrete equations, each a small function of views and a cell. Names say where a term is located: a
// value at an x face belongs to the cell left of it, at a y face to the cell in front, at a z face to the cell below.
// Second-order central, symmetry-preserving: Verstappen & Veldman, J. Comput. Phys. 187, 343 (2003).
//
// A field F is a view of a whole array or a window around one cell: anything that provides f(i, j, k). Likewise Metrics
// M: those of grid.hpp or a copy of the values near one plane. inv_dz[k] is 1 / height of cell k, inv_dz_center[k] that
// of the distance between the centres of cells k and k + 1, so it is located at z face k.
#include "core/decomp/view3.hpp"
#include "core/device/parallel_for.hpp"
#include "solver/grid/grid.hpp"

namespace sluice::op {

using In = View3<const real>;

inline constexpr real half = real(0.5);
inline constexpr real quarter = real(0.25);

// --- first differences ---

template <class F, class M>
SLUICE_INLINE real ddx_center_to_face(const F& f, Cell c, const M& m) {
  return (f(c.east, c.j, c.k) - f(c.i, c.j, c.k)) * m.inv_dx;
}
template <class F, class M>
SLUICE_INLINE real ddy_center_to_face(const F& f, Cell c, const M& m) {
  return (f(c.i, c.j + 1, c.k) - f(c.i, c.j, c.k)) * m.inv_dy;
}
template <class F, class M>
SLUICE_INLINE real ddz_center_to_face(const F& f, Cell c, const M& m) {
  return (f(c.i, c.j, c.k + 1) - f(c.i, c.j, c.k)) * m.inv_dz_center[c.k];
}
template <class F, class M>
SLUICE_INLINE real ddx_face_to_center(const F& f, Cell c, const M& m) {
  return (f(c.i, c.j, c.k) - f(c.west, c.j, c.k)) * m.inv_dx;
}
template <class F, class M>
SLUICE_INLINE real ddy_face_to_center(const F& f, Cell c, const M& m) {
  return (f(c.i, c.j, c.k) - f(c.i, c.j - 1, c.k)) * m.inv_dy;
}
template <class F, class M>
SLUICE_INLINE real ddz_face_to_center(const F& f, Cell c, const M& m) {
  return (f(c.i, c.j, c.k) - f(c.i, c.j, c.k - 1)) * m.inv_dz[c.k];
}

/// div u at centres: the left-hand side of continuity, and of eq. (2).
template <class F, class M>
SLUICE_INLINE real divergence(const F& u, const F& v, const F& w, Cell c, const M& m) {
  return ddx_face_to_center(u, c, m) + ddy_face_to_center(v, c, m) + ddz_face_to_center(w, c, m);
}

// --- second differences ---

template <class F, class M>
SLUICE_INLINE real d2dx2(const F& f, Cell c, const M& m) {
  return ((f(c.east, c.j, c.k) - f(c.i, c.j, c.k)) - (f(c.i, c.j, c.k) - f(c.west, c.j, c.k))) * (m.inv_dx * m.inv_dx);
}
template <class F, class M>
SLUICE_INLINE real d2dy2(const F& f, Cell c, const M& m) {
  return ((f(c.i, c.j + 1, c.k) - f(c.i, c.j, c.k)) - (f(c.i, c.j, c.k) - f(c.i, c.j - 1, c.k))) *
         (m.inv_dy * m.inv_dy);
}
/// Lz of eq. (5) for u, v, p and phi, which are at centres in z.
template <class F, class M>
SLUICE_INLINE real d2dz2_center(const F& f, Cell c, const M& m) {
  return ((f(c.i, c.j, c.k + 1) - f(c.i, c.j, c.k)) * m.inv_dz_center[c.k] -
          (f(c.i, c.j, c.k) - f(c.i, c.j, c.k - 1)) * m.inv_dz_center[c.k - 1]) *
         m.inv_dz[c.k];
}
/// Lz of eq. (5) for w, which is at z faces.
template <class F, class M>
SLUICE_INLINE real d2dz2_face(const F& f, Cell c, const M& m) {
  return ((f(c.i, c.j, c.k + 1) - f(c.i, c.j, c.k)) * m.inv_dz[c.k + 1] -
          (f(c.i, c.j, c.k) - f(c.i, c.j, c.k - 1)) * m.inv_dz[c.k]) *
         m.inv_dz_center[c.k];
}

// --- momentum fluxes: transporting times transported velocity, each averaged with weights 1/2 ---

template <class F>
SLUICE_INLINE real uu_at_center(const F& u, int west, int i, int j, int k) {
  const real sum = u(west, j, k) + u(i, j, k);
  return quarter * sum * sum;
}
template <class F>
SLUICE_INLINE real vv_at_center(const F& v, int i, int j, int k) {
  const real sum = v(i, j - 1, k) + v(i, j, k);
  return quarter * sum * sum;
}
template <class F>
SLUICE_INLINE real ww_at_center(const F& w, int i, int j, int k) {
  const real sum = w(i, j, k - 1) + w(i, j, k);
  return quarter * sum * sum;
}
/// u v on the vertical edge at x face i and y face j.
template <class F>
SLUICE_INLINE real uv_at_xy_edge(const F& u, const F& v, int i, int east, int j, int k) {
  return quarter * (u(i, j, k) + u(i, j + 1, k)) * (v(i, j, k) + v(east, j, k));
}
/// u w on the spanwise edge at x face i and z face k: flux of u through the z face with w averaged in x.
template <class F>
SLUICE_INLINE real uw_at_xz_edge(const F& u, const F& w, int i, int east, int j, int k) {
  return quarter * (u(i, j, k) + u(i, j, k + 1)) * (w(i, j, k) + w(east, j, k));
}
/// v w on the streamwise edge at y face j and z face k.
template <class F>
SLUICE_INLINE real vw_at_yz_edge(const F& v, const F& w, int i, int j, int k) {
  return quarter * (v(i, j, k) + v(i, j, k + 1)) * (w(i, j, k) + w(i, j + 1, k));
}
/// The flux of w through the x side of its control volume times the volume's height: half the sum of both cells' mass
/// fluxes.
template <class F, class M>
SLUICE_INLINE real w_flux_through_x_face(const F& u, const F& w, int i, int east, int j, int k, const M& m) {
  return quarter * (m.dz[k] * u(i, j, k) + m.dz[k + 1] * u(i, j, k + 1)) * (w(i, j, k) + w(east, j, k));
}
template <class F, class M>
SLUICE_INLINE real w_flux_through_y_face(const F& v, const F& w, int i, int j, int k, const M& m) {
  return quarter * (m.dz[k] * v(i, j, k) + m.dz[k + 1] * v(i, j, k + 1)) * (w(i, j, k) + w(i, j + 1, k));
}

// --- advection: div(u u), one component each ---

template <class F, class M>
SLUICE_INLINE real advection_u(const F& u, const F& v, const F& w, Cell c, const M& m) {
  const auto [i, j, k, west, east] = c;
  return (uu_at_center(u, i, east, j, k) - uu_at_center(u, west, i, j, k)) * m.inv_dx +
         (uv_at_xy_edge(u, v, i, east, j, k) - uv_at_xy_edge(u, v, i, east, j - 1, k)) * m.inv_dy +
         (uw_at_xz_edge(u, w, i, east, j, k) - uw_at_xz_edge(u, w, i, east, j, k - 1)) * m.inv_dz[k];
}
template <class F, class M>
SLUICE_INLINE real advection_v(const F& u, const F& v, const F& w, Cell c, const M& m) {
  const auto [i, j, k, west, east] = c;
  return (uv_at_xy_edge(u, v, i, east, j, k) - uv_at_xy_edge(u, v, west, i, j, k)) * m.inv_dx +
         (vv_at_center(v, i, j + 1, k) - vv_at_center(v, i, j, k)) * m.inv_dy +
         (vw_at_yz_edge(v, w, i, j, k) - vw_at_yz_edge(v, w, i, j, k - 1)) * m.inv_dz[k];
}
template <class F, class M>
SLUICE_INLINE real advection_w(const F& u, const F& v, const F& w, Cell c, const M& m) {
  const auto [i, j, k, west, east] = c;
  return ((w_flux_through_x_face(u, w, i, east, j, k, m) - w_flux_through_x_face(u, w, west, i, j, k, m)) * m.inv_dx +
          (w_flux_through_y_face(v, w, i, j, k, m) - w_flux_through_y_face(v, w, i, j - 1, k, m)) * m.inv_dy +
          (ww_at_center(w, i, j, k + 1) - ww_at_center(w, i, j, k))) *
         m.inv_dz_center[k];
}

// --- the tendency R of eq. (1): -div(u u) + nu lap u; z-implicit diffusion leaves out nu Lz u ---

template <bool implicit_z, class F, class M>
SLUICE_INLINE real tendency_u(const F& u, const F& v, const F& w, Cell c, const M& m, real nu) {
  const real diffusion = d2dx2(u, c, m) + d2dy2(u, c, m) + (implicit_z ? real(0) : d2dz2_center(u, c, m));
  return nu * diffusion - advection_u(u, v, w, c, m);
}
template <bool implicit_z, class F, class M>
SLUICE_INLINE real tendency_v(const F& u, const F& v, const F& w, Cell c, const M& m, real nu) {
  const real diffusion = d2dx2(v, c, m) + d2dy2(v, c, m) + (implicit_z ? real(0) : d2dz2_center(v, c, m));
  return nu * diffusion - advection_v(u, v, w, c, m);
}
template <bool implicit_z, class F, class M>
SLUICE_INLINE real tendency_w(const F& u, const F& v, const F& w, Cell c, const M& m, real nu) {
  const real diffusion = d2dx2(w, c, m) + d2dy2(w, c, m) + (implicit_z ? real(0) : d2dz2_face(w, c, m));
  return nu * diffusion - advection_w(u, v, w, c, m);
}

}  // namespace sluice::op
