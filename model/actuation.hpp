#pragma once
// Walls that drive the flow: named motions of a wall, in place of formulas for its velocity.
#include <cstddef>
#include <optional>

#include "model/formula.hpp"

namespace sluice {

enum class ActuationKind {
  none,
  oscillation,        ///< of the wall in its own plane
  travelling_wave,    ///< of the wall's velocity in its own plane
  blowing_suction,    ///< through the wall: uniform or a wave
  opposition_control  ///< through the wall, against the flow at some distance from it
};
enum class ActuationComponent { streamwise, spanwise };
enum class WaveDirection { forward, backward };
enum class ActuationUnits { outer, wall };

/// The re_tau of the wall units in which the case gives an actuation, for messages only: two actuations with the same
/// motion in outer units compare equal.
struct UnitsOfCase {
  double re_tau = 0;  ///< 0: outer units
  bool operator==(const UnitsOfCase&) const { return true; }
};

/// What a wall does. A wave is amplitude sin(2 pi (x/wavelength_x + y/wavelength_y -+ t/period)): forward is towards
/// larger x (or y, if it does not vary along x).
struct Actuation {
  ActuationKind kind = ActuationKind::none;
  ActuationComponent component = ActuationComponent::spanwise;  ///< of oscillations and travelling waves
  double amplitude = 0;  ///< velocity; for opposition_control the fraction of w that the wall opposes
  std::optional<double> wavelength_x = {};  ///< none: uniform along this axis
  std::optional<double> wavelength_y = {};
  std::optional<double> period = {};  ///< none: steady
  std::optional<double> speed = {};   ///< of a wave; gives its period
  WaveDirection direction = WaveDirection::forward;
  double height = 0;  ///< opposition_control: distance of the detection plane from the wall
  ActuationUnits units = ActuationUnits::outer;
  double re_tau = 0;  ///< gives the wall units
  UnitsOfCase units_of_case{};

  bool is_wave() const { return wavelength_x || wavelength_y; }
  bool follows_flow() const { return kind == ActuationKind::opposition_control; }
  /// Velocity of the wall, component by component: of x, y and t; 0 if it follows the flow.
  Formula velocity(std::size_t component_number) const;
  /// In outer units, with a period for a speed. Wavelengths that divide the lengths of the box to within 1e-6 then
  /// divide them exactly.
  Actuation resolved(double viscosity, double length_x, double length_y) const;

  bool operator==(const Actuation&) const = default;
};

}  // namespace sluice
