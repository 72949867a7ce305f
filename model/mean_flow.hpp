#pragma once
// What the terms of the equations mean for the mean flow, for code that does not know the terms.
#include <array>
#include <optional>

namespace sluice {

struct MeanFlow {
  bool is_mirrored = true;         ///< whether mirroring the flow (z -> Lz - z, w -> -w) mirrors its forces
  bool is_turned = true;           ///< whether half a turn of the flow about y turns its forces
  bool changes_direction = false;  ///< with the height, and with it the direction of the stress
  /// Velocity along x and y far above the wall, of a flow that it drives.
  std::optional<std::array<double, 2>> velocity_above{};
};

}  // namespace sluice
