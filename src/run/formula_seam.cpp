#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/run/formula_check.hpp"

namespace sluice {

namespace {

/// A formula along a line, and the differences that it shows.
class Line {
 public:
  Line(const Formula& formula, FormulaPoint at, char axis, double length)
      : formula_(formula), at_(at), axis_(axis), length_(length) {}

  double value(double position) const {
    FormulaPoint at = at_;
    (axis_ == 'x' ? at.x : axis_ == 'y' ? at.y : at.z) = position;
    return formula_(at);
  }
  double jump() const { return value(length_) - value(0); }
  /// Slopes by differences of second order, from within the domain.
  double slope_at_begin() const { return (-3 * value(0) + 4 * value(step()) - value(2 * step())) / (2 * step()); }
  double slope_at_end() const {
    return (3 * value(length_) - 4 * value(length_ - step()) + value(length_ - 2 * step())) / (2 * step());
  }
  double slope(double position) const { return (value(position + step()) - value(position - step())) / (2 * step()); }

 private:
  double step() const { return 1e-4 * length_; }

  const Formula& formula_;
  FormulaPoint at_;
  char axis_;
  double length_;
};

constexpr int samples = 16;

/// The largest magnitudes on all lines.
struct Largest {
  double value = 0, slope = 0;
  double difference = 0;  ///< between points a period apart; infinite where that is not finite
  double jump = 0, kink = 0, slope_at_begin = 0, slope_at_end = 0;

  void add(const Line& line, double length) {
    for (int n = 0; n < 4 * samples; ++n) {
      const double position = (n + 0.37) / (4 * samples) * length;
      const double here = line.value(position);
      const double beyond = line.value(position + length);
      value = std::max(value, std::abs(here));
      slope = std::max(slope, std::abs(line.slope(position)));
      difference = std::isfinite(beyond) ? std::max(difference, std::abs(beyond - here)) : HUGE_VAL;
    }
    jump = std::max(jump, std::abs(line.jump()));
    const double begin = line.slope_at_begin();
    const double end = line.slope_at_end();
    if (std::abs(begin - end) <= kink) return;
    kink = std::abs(begin - end);
    slope_at_begin = begin;
    slope_at_end = end;
  }
};

}  // namespace

std::string seam_fault(const Formula& formula, char axis, const std::array<double, 3>& lengths, double begin,
                       double end) {
  if (!formula.depends_on(std::string(1, axis))) return {};
  const double length = lengths[static_cast<std::size_t>(axis - 'x')];
  Largest largest;
  for (int n = 0; n < samples * samples; ++n) {
    const double part = (n % samples + 0.41) / samples;
    const double t = begin + (end - begin) * (n / samples) / samples;  // NOLINT(bugprone-integer-division)
    const FormulaPoint at{.x = part * lengths[0], .y = part * lengths[1], .z = part * lengths[2], .t = t};
    largest.add(Line(formula, at, axis, length), length);
  }
  constexpr double of_rounding = 1e-6;
  constexpr double of_differences = 1e-2;
  if (largest.difference <= of_rounding * largest.value) return {};
  constexpr const char* what_to_do = "use wavelengths that divide the domain evenly";
  if (largest.jump > of_rounding * largest.value)
    return fmt::format("it jumps by {:.2g} where the domain ends along {} and repeats; {}", largest.jump, axis,
                       what_to_do);
  if (largest.kink > of_differences * largest.slope)
    return fmt::format("its slope jumps from {:.2g} to {:.2g} where the domain ends along {} and repeats; {}",
                       largest.slope_at_end, largest.slope_at_begin, axis, what_to_do);
  return {};
}

}  // namespace sluice
