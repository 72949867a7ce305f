#pragma once
#include "solver/walls/wall_motion.hpp"

namespace sluice {

/// f += factor value / divisor on one plane: what is given at a wall, on the right-hand side of implicit diffusion.
struct AddWallValue {
  View3<real> f;
  int plane;
  WallValue value;
  double factor, divisor;
  SLUICE_INLINE void operator()(int i, int j, int) const {
    f(i, j, plane) += static_cast<real>(factor * value(i, j) / divisor);
  }
};

}  // namespace sluice
