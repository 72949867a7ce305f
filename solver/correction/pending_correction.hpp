#pragma once
#include "core/decomp/view3.hpp"
#include "core/support/real.hpp"

namespace sluice {

/// What turns u* into u, eq. (3): u = u* + f g - gamma dt grad phi. f: a force that is uniform in x and y; g: the
/// response of u* to a unit force, 1 with explicit diffusion. With z-implicit diffusion also eq. (6),
/// p = p + phi - c Lz phi.
struct Correction {
  View3<const real> phi;           ///< null: there is nothing to correct
  const real* response = nullptr;  ///< g on the rank's planes, in device memory
  real gamma_dt = 0;
  real force_x = 0, force_y = 0;  ///< gamma dt f
  real half_nu_gamma_dt = 0;      ///< c
};

/// A velocity of which some cells still hold u*: those inside of a rim along y and z. The rim and the halos hold u, so
/// that halos can be exchanged and walls applied as ever. The same may hold for p.
struct PendingCorrection {
  Correction correction;
  bool with_pressure = false;
  int rim_y = 0;  ///< rows at either end that hold u: as many as neighbours read
  int ny = 0, nz = 0;

  static constexpr int rim_z = 1;

  SLUICE_INLINE bool any() const { return correction.phi.origin != nullptr; }
  SLUICE_INLINE bool in_row(int j) const { return j >= rim_y && j < ny - rim_y; }
  SLUICE_INLINE bool in_plane(int k) const { return k >= rim_z && k < nz - rim_z; }
};

}  // namespace sluice
