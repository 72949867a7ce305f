#pragma once
#include <cstdint>

#include "solver/walls/wall_actuation.hpp"

namespace sluice {

/// Walls that blow and suck against the flow: w on the wall is -amplitude (w_d - <w_d>) with w_d on a plane at some
/// distance from the wall. Choi, Moin & Kim, J. Fluid Mech. 262, 75 (1994).
struct OppositionParameters {
  double height = 0;  ///< distance of the detection plane from the wall
  bool operator==(const OppositionParameters&) const = default;
};

const WallActuation& opposition_control();

/// The z face nearest to this distance from a wall, neither wall included: that of cells k and k + 1.
std::int64_t detection_face(const Grid& grid, Walls::Side side, double height);

}  // namespace sluice
