#pragma once
#include <optional>

#include "solver/walls/wall_actuation.hpp"

namespace sluice {

enum class WaveComponent { streamwise, spanwise };
enum class WaveDirection { forward, backward };

/// Motions amplitude sin(2 pi (x/wavelength_x + y/wavelength_y -+ t/period)): forward is towards larger x (or y, if
/// the wave does not vary along x).
struct WaveParameters {
  WaveComponent component = WaveComponent::spanwise;  ///< of motions in the plane of the wall
  std::optional<double> wavelength_x = {};            ///< none: uniform along this axis
  std::optional<double> wavelength_y = {};
  std::optional<double> period = {};  ///< none: steady
  std::optional<double> speed = {};   ///< of a wave; gives its period
  WaveDirection direction = WaveDirection::forward;

  bool is_wave() const { return wavelength_x || wavelength_y; }
  bool operator==(const WaveParameters&) const = default;
};

/// Of the wall in its own plane; the amplitude is a velocity.
const WallActuation& oscillation();
/// Of the wall's velocity in its own plane.
const WallActuation& travelling_wave();
/// Through the wall: uniform or a wave.
const WallActuation& blowing_suction();

}  // namespace sluice
