#pragma once
#include "core/support/real.hpp"

namespace sluice {

/// The numbers of eq. (3), u = u* + f g - gamma dt grad phi, and of eq. (6), p = p + phi - c Lz phi. f: a force that is
/// uniform in x and y; g: the response of u* to a unit force, 1 with explicit diffusion.
struct CorrectionWeights {
  real gamma_dt = 0;
  real force_x = 0, force_y = 0;  ///< gamma dt f
  real half_nu_gamma_dt = 0;      ///< c
};

/// A correction that a substep has left to the next reader of the velocity: the cells inside of a rim along y and z
/// still hold u*. The rim holds u, which walls and the halos of neighbours need, and the halos hold u as well. Numbers
/// only: the stepper that left it has phi and g.
struct PendingCorrection {
  CorrectionWeights weights;
  bool with_pressure = false;  ///< whether p holds its old value in these cells
  int rim_y = 0;               ///< rows at either end that hold u: as many as neighbours read
  int ny = 0, nz = 0;          ///< cells of the rank

  static constexpr int rim_z = 1;

  SLUICE_INLINE bool in_row(int j) const { return j >= rim_y && j < ny - rim_y; }
  SLUICE_INLINE bool in_plane(int k) const { return k >= rim_z && k < nz - rim_z; }
};

}  // namespace sluice
