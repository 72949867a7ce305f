// Walls that move, blow and suck by sines of x, y and t.
#include "solver/walls/wave_actuation.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/support/plain_text.hpp"

namespace sluice {

namespace {

constexpr double whole_waves = 1e-6;

const WaveParameters& of(const Actuation& actuation) {
  return actuation.further.of<WaveParameters>();
}

/// A wavelength that divides the length of the box without remainder, if it nearly does.
void fit(std::optional<double>& wavelength, double length) {
  if (!wavelength) return;
  const double waves = std::round(length / *wavelength);
  if (waves >= 1 && std::abs(length / *wavelength - waves) <= whole_waves * waves) wavelength = length / waves;
}

void check_whole_waves(const std::string& path, const std::optional<double>& wavelength, double length,
                       const RuleReport& report) {
  if (!wavelength || !report.good("domain.size")) return;
  const double waves = length / *wavelength;
  if (std::abs(waves - std::round(waves)) <= 1e-9 * waves && std::round(waves) >= 1) return;
  report.note(path,
              fmt::format("{} waves of this length fit the box; allowed: a length that divides {} without remainder",
                          format_real(std::round(1e4 * waves) / 1e4), format_real(length)));
}

ParameterKey amplitude_key(const KeysOfWall& wall) {
  return {.path = "amplitude",
          .value = ParameterValue{wall.common(&Actuation::amplitude)},
          .required = true,
          .unit = "U",
          .meaning = "Largest velocity.",
          .example = "0.5"};
}

ParameterKey component_key(const KeysOfWall& wall) {
  return {.path = "component",
          .value = ParameterValue{wall.choice(&WaveParameters::component, {"streamwise", "spanwise"})},
          .fallback_note = "spanwise",
          .meaning = "Direction in which the wall moves.",
          .example = "spanwise",
          .commented = true};
}

ParameterKey period_key(const KeysOfWall& wall) {
  return {.path = "period",
          .value = ParameterValue{wall.parameter(&WaveParameters::period)},
          .range = {.minimum = {0}, .above = true},
          .unit = "h/U",
          .meaning = "Period in time; needed by oscillation, waves without it are steady.",
          .excludes = {"speed"},
          .example = "10"};
}

ParameterKey wavelength_key(const KeysOfWall& wall, bool y) {
  return {.path = y ? "wavelength_y" : "wavelength_x",
          .value =
              ParameterValue{.bound = wall.parameter(y ? &WaveParameters::wavelength_y : &WaveParameters::wavelength_x),
                             .is_length = true},
          .range = {.minimum = {0}, .above = true},
          .unit = "h",
          .meaning = std::string("Wavelength along ") + (y ? "y" : "x") +
                     "; a whole number of waves must fit the box. Without it the wave is uniform along " +
                     (y ? "y." : "x."),
          .example = "pi",
          .commented = true};
}

/// The keys of motions that may vary over the wall.
void add_wave_keys(const KeysOfWall& wall, std::vector<ParameterKey>& keys) {
  keys.push_back({.path = "speed",
                  .value = ParameterValue{wall.parameter(&WaveParameters::speed)},
                  .range = {.minimum = {0}, .above = true},
                  .unit = "U",
                  .meaning = "Phase speed of a wave, in place of its period.",
                  .excludes = {"period"},
                  .example = "1",
                  .commented = true});
  keys.push_back({.path = "direction",
                  .value = ParameterValue{wall.choice(&WaveParameters::direction, {"forward", "backward"})},
                  .fallback_note = "forward",
                  .meaning = "forward: waves travel towards larger x, or towards larger y if they are uniform along x; "
                             "backward: the other way.",
                  .example = "forward",
                  .commented = true});
  keys.push_back(wavelength_key(wall, false));
  keys.push_back(wavelength_key(wall, true));
}

/// What the three motions have in common.
class Wave : public WallActuation {
 public:
  Formula velocity(const Actuation& actuation, std::size_t component) const override {
    const WaveParameters& wave = of(actuation);
    if (component != component_of(wave)) return 0.0;
    std::string phase;
    if (wave.wavelength_x) phase += fmt::format("+x/{}", *wave.wavelength_x);
    if (wave.wavelength_y) phase += fmt::format("+y/{}", *wave.wavelength_y);
    // The phase of a wave advances with the distance and falls with time.
    const bool falls = wave.is_wave() && wave.direction == WaveDirection::forward;
    if (wave.period) phase += fmt::format("{}t/{}", falls ? "-" : "+", *wave.period);
    if (phase.empty()) return actuation.amplitude;
    return Formula::parse(fmt::format("{}*sin(2*pi*(0{}))", actuation.amplitude, phase), "xyt");
  }

  std::vector<Synonym> synonyms() const override {
    return {
        {"omega", "period"},  {"w+", "amplitude"},     {"w_plus", "amplitude"},        {"t+", "period"},
        {"t_plus", "period"}, {"frequency", "period"}, {"wavelength", "wavelength_x"}, {"wavelength", "wavelength_y"}};
  }

  void use_outer_units(Actuation& actuation, const WallUnits& units) const override {
    actuation.amplitude *= units.velocity;
    auto& wave = actuation.further.edit<WaveParameters>();
    for (auto* of_length : {&wave.wavelength_x, &wave.wavelength_y})
      if (*of_length) **of_length *= units.length();
    if (wave.period) *wave.period *= units.time();
    if (wave.speed) *wave.speed *= units.velocity;
  }

  /// A period for a speed. Wavelengths that divide the lengths of the box to within 1e-6 then divide them exactly.
  void derive(Actuation& actuation, const CaseFacts& facts) const override {
    auto& wave = actuation.further.edit<WaveParameters>();
    fit(wave.wavelength_x, facts.size[0]);
    fit(wave.wavelength_y, facts.size[1]);
    if (!wave.speed || !wave.is_wave()) return;
    const double waves_per_length =
        std::hypot(wave.wavelength_x ? 1 / *wave.wavelength_x : 0, wave.wavelength_y ? 1 / *wave.wavelength_y : 0);
    wave.period = 1 / (*wave.speed * waves_per_length);
    wave.speed.reset();
  }

  void check(const Actuation& actuation, const std::string& path, const RuleReport& report) const override {
    const WaveParameters& wave = of(actuation);
    check_kind(wave, path, report);
    if (wave.speed)
      report.note(path + ".speed", "without a wavelength nothing travels; allowed: with a wavelength only");
    check_whole_waves(path + ".wavelength_x", wave.wavelength_x, report.facts.size[0], report);
    check_whole_waves(path + ".wavelength_y", wave.wavelength_y, report.facts.size[1], report);
  }

  std::string check_text(const CheckedWall& wall) const override {
    const WaveParameters& wave = of(wall.actuation);
    const WallUnits& units = wall.units;
    std::string text = fmt::format("{} of amplitude {:.3g}", name(), wall.actuation.amplitude / units.velocity);
    if (wave.period) text += fmt::format(", period {:.4g}", *wave.period * units.velocity * units.per_length());
    if (wave.wavelength_x) text += fmt::format(", wavelength_x {:.4g}", *wave.wavelength_x * units.per_length());
    if (wave.wavelength_y) text += fmt::format(", wavelength_y {:.4g}", *wave.wavelength_y * units.per_length());
    return text + " in wall units of " + wall.units_name;
  }

 private:
  virtual std::size_t component_of(const WaveParameters& wave) const {
    return wave.component == WaveComponent::streamwise ? 0 : 1;
  }
  virtual void check_kind(const WaveParameters& /*wave*/, const std::string& /*path*/,
                          const RuleReport& /*report*/) const {}
};

class Oscillation final : public Wave {
 public:
  std::string name() const override { return "oscillation"; }
  std::string meaning() const override { return "amplitude sin(2 pi t/period) in the plane of the wall"; }
  std::vector<ParameterKey> keys(const KeysOfWall& wall) const override {
    return {component_key(wall), amplitude_key(wall), period_key(wall)};
  }

 private:
  void check_kind(const WaveParameters& wave, const std::string& path, const RuleReport& report) const override {
    if (!wave.period) report.note(path, "an oscillation needs a period; allowed: the key period");
  }
};

class TravellingWave final : public Wave {
 public:
  std::string name() const override { return "travelling_wave"; }
  std::string meaning() const override {
    return "amplitude sin(2 pi (x/wavelength_x + y/wavelength_y - t/period)) in the plane of the wall";
  }
  std::vector<ParameterKey> keys(const KeysOfWall& wall) const override {
    std::vector<ParameterKey> keys{component_key(wall), amplitude_key(wall), period_key(wall)};
    add_wave_keys(wall, keys);
    return keys;
  }

 private:
  void check_kind(const WaveParameters& wave, const std::string& path, const RuleReport& report) const override {
    if (!wave.is_wave()) report.note(path, "a wave needs a wavelength; allowed: wavelength_x, wavelength_y or both");
  }
};

class BlowingSuction final : public Wave {
 public:
  std::string name() const override { return "blowing_suction"; }
  std::string meaning() const override { return "such a wave of w, or without a wavelength a uniform w"; }
  std::vector<ParameterKey> keys(const KeysOfWall& wall) const override {
    std::vector<ParameterKey> keys{amplitude_key(wall), period_key(wall)};
    add_wave_keys(wall, keys);
    return keys;
  }

 private:
  std::size_t component_of(const WaveParameters& /*wave*/) const override { return 2; }
};

}  // namespace

const WallActuation& oscillation() {
  static const Oscillation type;
  return type;
}

const WallActuation& travelling_wave() {
  static const TravellingWave type;
  return type;
}

const WallActuation& blowing_suction() {
  static const BlowingSuction type;
  return type;
}

}  // namespace sluice
