#pragma once
// Eqs. (3) and (6) at one point, for sweeps of their own and for sweeps that correct u* while they read it. All give
// the same bits.
#include "core/decomp/view3.hpp"
#include "core/stencil/second_differences.hpp"

namespace sluice {

/// The numbers of eq. (3), u = u* + gamma dt f g - gamma dt grad phi, and of eq. (6), p = p + phi - c Lz phi. f: a
/// force that is uniform in x and y; g: the response of u* to a unit force, 1 with explicit diffusion.
struct CorrectionWeights {
  real gamma_dt = 0;
  real impulse_x = 0, impulse_y = 0;  ///< gamma dt f
  real half_nu_gamma_dt = 0;          ///< c
};

/// The same, when the host need not know the force yet.
struct CorrectionNumbers {
  real gamma_dt = 0;
  real half_nu_gamma_dt = 0;
  const real* impulse = nullptr;  ///< gamma dt f along x and y, in device memory

  SLUICE_INLINE CorrectionWeights weights() const { return {gamma_dt, impulse[0], impulse[1], half_nu_gamma_dt}; }
};

/// A correction that a substep has deferred to the next reader of the velocity: the cells inside of a rim along y and z
/// still hold u*. The rim holds u, which walls and the halos of neighbours need, and the halos hold u as well. The
/// stepper that deferred the correction has phi, g and the impulse.
struct PendingCorrection {
  CorrectionNumbers numbers;
  bool with_pressure = false;  ///< whether p still holds its old value in these cells
  int rim_y = 0;               ///< rows at either end that hold u: as many as neighbours read
  int ny = 0, nz = 0;          ///< cells of the rank

  static constexpr int rim_z = 1;

  SLUICE_INLINE bool in_row(int j) const { return j >= rim_y && j < ny - rim_y; }
  SLUICE_INLINE bool in_plane(int k) const { return k >= rim_z && k < nz - rim_z; }
};

/// All that corrects a velocity.
struct Correction {
  View3<const real> phi;
  const real* response;  ///< g on the rank's planes and, next to other ranks, in the halos; in device memory
  CorrectionNumbers numbers;
};

/// u at the x face n cells further on. phi: the line along x through the cell; response: g at its height.
template <Order order, class Line, class M>
SLUICE_INLINE real corrected_u_on_line(real star, const CorrectionWeights& a, const Line& phi, int n, const M& m,
                                       real response) {
  const real forced = multiply_add(a.impulse_x, response, star);
  return multiply_add(-a.gamma_dt, op::difference_above<order>(phi, n) * m.inv_dx, forced);
}
/// v at the y face n cells further on. phi: the line along y.
template <Order order, class Line, class M>
SLUICE_INLINE real corrected_v_on_line(real star, const CorrectionWeights& a, const Line& phi, int n, const M& m,
                                       real response) {
  const real forced = multiply_add(a.impulse_y, response, star);
  return multiply_add(-a.gamma_dt, op::difference_above<order>(phi, n) * m.inv_dy, forced);
}

/// u at the x face of the cell. phi: the field around the cell.
template <Order order, class F, class C, class M>
SLUICE_INLINE real corrected_u(real star, const CorrectionWeights& a, const F& phi, const C& c, const M& m,
                               real response) {
  return corrected_u_on_line<order>(star, a, op::along_x(phi, c), 0, m, response);
}
/// v at the y face.
template <Order order, class F, class C, class M>
SLUICE_INLINE real corrected_v(real star, const CorrectionWeights& a, const F& phi, const C& c, const M& m,
                               real response) {
  return corrected_v_on_line<order>(star, a, op::along_y(phi, c), 0, m, response);
}
/// w at the z face of a cell of plane k. phi, phi_above: its values in the cell and in the one above.
template <class M>
SLUICE_INLINE real corrected_w_between(real star, const CorrectionWeights& a, real phi, real phi_above, const M& m,
                                       int k) {
  return multiply_add(-a.gamma_dt, (phi_above - phi) * m.inv_dz_center[k], star);
}
/// w at the z face of the cell.
template <class F, class C, class M>
SLUICE_INLINE real corrected_w(real star, const CorrectionWeights& a, const F& phi, const C& c, const M& m) {
  return corrected_w_between(star, a, phi(c.i, c.j, c.k), phi(c.i, c.j, c.k + 1), m, c.k);
}

/// p at the centre, eq. (6). phi: the field around the cell.
template <class F, class C, class M>
SLUICE_INLINE real updated_pressure(real old, const CorrectionWeights& a, const F& phi, const C& c, const M& m) {
  return old + multiply_add(-a.half_nu_gamma_dt, op::d2dz2_center(phi, c, m), phi(c.i, c.j, c.k));
}

}  // namespace sluice
