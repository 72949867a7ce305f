#include "model/actuation.hpp"

#include <fmt/format.h>

#include <cmath>

namespace sluice {

namespace {

constexpr double whole_waves = 1e-6;

/// The number of the component of the velocity that the actuation sets.
std::size_t component_of(const Actuation& actuation) {
  if (actuation.kind == ActuationKind::blowing_suction) return 2;
  return actuation.component == ActuationComponent::streamwise ? 0 : 1;
}

/// A wavelength that divides the length of the box without remainder, if it nearly does.
void fit(std::optional<double>& wavelength, double length) {
  if (!wavelength) return;
  const double waves = std::round(length / *wavelength);
  if (waves >= 1 && std::abs(length / *wavelength - waves) <= whole_waves * waves) wavelength = length / waves;
}

}  // namespace

Formula Actuation::velocity(std::size_t component_number) const {
  if (kind == ActuationKind::none || follows_flow() || component_number != component_of(*this)) return 0.0;
  std::string phase;
  if (wavelength_x) phase += fmt::format("+x/{}", *wavelength_x);
  if (wavelength_y) phase += fmt::format("+y/{}", *wavelength_y);
  // The phase of a wave advances with the distance and falls with time.
  const bool falls = is_wave() && direction == WaveDirection::forward;
  if (period) phase += fmt::format("{}t/{}", falls ? "-" : "+", *period);
  if (phase.empty()) return amplitude;
  return Formula::parse(fmt::format("{}*sin(2*pi*(0{}))", amplitude, phase), "xyt");
}

Actuation Actuation::resolved(double viscosity, double length_x, double length_y) const {
  Actuation outer = *this;
  if (units == ActuationUnits::wall && re_tau > 0) {
    const double u_tau = re_tau * viscosity;  // u_tau h / nu with h = 1
    const double length = viscosity / u_tau;
    if (!follows_flow()) outer.amplitude *= u_tau;
    for (auto* of_length : {&outer.wavelength_x, &outer.wavelength_y})
      if (*of_length) **of_length *= length;
    if (outer.period) *outer.period *= length / u_tau;
    if (outer.speed) *outer.speed *= u_tau;
    outer.height *= length;
    outer.units = ActuationUnits::outer;
    outer.units_of_case = {re_tau};
    outer.re_tau = 0;
  }
  fit(outer.wavelength_x, length_x);
  fit(outer.wavelength_y, length_y);
  if (outer.speed && outer.is_wave()) {
    const double waves_per_length =
        std::hypot(outer.wavelength_x ? 1 / *outer.wavelength_x : 0, outer.wavelength_y ? 1 / *outer.wavelength_y : 0);
    outer.period = 1 / (*outer.speed * waves_per_length);
    outer.speed.reset();
  }
  return outer;
}

}  // namespace sluice
