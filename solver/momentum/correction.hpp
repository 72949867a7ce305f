#pragma once
// Eq. (3), u = u* + f g - gamma dt grad phi, at one point. A sweep of its own applies it, or the next momentum sweep
// while it reads u*.
#include "core/decomp/view3.hpp"
#include "solver/momentum/operators.hpp"

namespace sluice {

/// What turns u* into u. f: a force that is uniform in x and y; g: the response of u* to a unit force, 1 with explicit
/// diffusion.
struct Correction {
  View3<const real> phi;           ///< null: there is nothing to correct
  const real* response = nullptr;  ///< g on the rank's planes, in device memory
  real gamma_dt = 0;
  real force_x = 0, force_y = 0;  ///< gamma dt f
};

/// u at the x face of the cell. phi: the field around the cell; response: g at its height.
template <Order order, class F, class C, class M>
SLUICE_INLINE real corrected_u(real star, const Correction& a, const F& phi, const C& c, const M& m, real response) {
  return star + a.force_x * response - a.gamma_dt * op::ddx_center_to_face<order>(phi, c, m);
}
/// v at the y face. `spanwise`: whether there is a force along y.
template <Order order, bool spanwise, class F, class C, class M>
SLUICE_INLINE real corrected_v(real star, const Correction& a, const F& phi, const C& c, const M& m, real response) {
  if constexpr (spanwise) star += a.force_y * response;
  return star - a.gamma_dt * op::ddy_center_to_face<order>(phi, c, m);
}
/// w at the z face.
template <class F, class C, class M>
SLUICE_INLINE real corrected_w(real star, const Correction& a, const F& phi, const C& c, const M& m) {
  return star - a.gamma_dt * op::ddz_center_to_face(phi, c, m);
}

/// A velocity of which some cells still hold u*: those inside of a rim along y and z. The rim and the halos hold u, so
/// that halos can be exchanged and walls applied as ever.
struct PendingCorrection {
  Correction correction;
  int rim_y = 0;  ///< rows at either end that hold u: as many as neighbours read
  int ny = 0, nz = 0;

  static constexpr int rim_z = 1;

  bool any() const { return correction.phi.origin != nullptr; }
  SLUICE_INLINE bool in_row(int j) const { return j >= rim_y && j < ny - rim_y; }
  SLUICE_INLINE bool in_plane(int k) const { return k >= rim_z && k < nz - rim_z; }
};

}  // namespace sluice
