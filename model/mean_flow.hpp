#pragma once
// What the terms of the equations mean for the mean flow, for code that does not know the terms.
#include <array>
#include <optional>

namespace sluice {

struct MeanFlow {
  bool is_mirrored = true;  ///< z -> Lz - z, w -> -w: the forces of the mirror image are mirror images of the forces
  bool is_turned = true;    ///< half a turn about y: the forces of the turned flow are turned forces
  bool changes_direction = false;  ///< with the height, and with it the direction of the stress
  /// Velocity along x and y far above the wall, of a flow that it drives.
  std::optional<std::array<double, 2>> velocity_above{};
};

}  // namespace sluice
