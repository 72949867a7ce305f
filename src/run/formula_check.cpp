#include "src/run/formula_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "core/support/error.hpp"
#include "core/support/real.hpp"
#include "io/case/case.hpp"
#include "solver/walls/walls.hpp"

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

/// What is wrong with a formula where the domain ends along an axis and repeats: a jump of the value or of the slope.
/// Empty if the formula is periodic, or constant near there, like the formula of a slot. From samples at times from
/// `begin` to `end`. `lengths`: of the domain.
std::string seam_fault(const Formula& formula, char axis, const std::array<double, 3>& lengths, double begin,
                       double end) {
  if (!formula.depends_on(std::string(1, axis))) return {};
  const double length = lengths[axis - 'x'];
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

constexpr int max_times = 256;
constexpr int max_times_of_forcing = 4096;
constexpr std::int64_t max_points_along = 64;              ///< tried at every time
constexpr std::int64_t max_initial_along = 128;            ///< of an initial field
constexpr std::int64_t max_means = std::int64_t{1} << 22;  ///< points times times of the mean over a wall

/// Points of the grid, in planes at heights z.
struct Points {
  std::int64_t nx, ny;
  double dx, dy, offset_x, offset_y;
  std::vector<double> z;
  double grid_velocity, length_x;

  FormulaPoint at(std::int64_t i, std::int64_t j, double height, double t) const {
    double x = (static_cast<double>(i) + offset_x) * dx + grid_velocity * t;  // of the laboratory
    if (grid_velocity != 0) x -= length_x * std::floor(x / length_x);
    return {x, (static_cast<double>(j) + offset_y) * dy, height, t};
  }
};

/// All points of a field at a wall; `z`: of the wall.
Points wall_points(const Grid& grid, Location location, double z) {
  return {grid.cells()[0],
          grid.cells()[1],
          grid.dx(),
          grid.dy(),
          location == Location::x_face ? 1.0 : 0.5,
          location == Location::y_face ? 1.0 : 0.5,
          {z},
          grid.velocity(),
          grid.length_x()};
}

/// The points of an initial field, or a part of its planes.
Points volume_points(const Grid& grid, Location location) {
  Points points = wall_points(grid, location, 0);
  points.grid_velocity = 0;
  points.z.clear();
  const std::int64_t nz = grid.cells()[2];
  const std::int64_t stride = (nz + max_initial_along - 1) / max_initial_along;
  for (std::int64_t k = 0; k < nz; k += stride)
    points.z.push_back(location == Location::z_face ? grid.z_nodes()[k + 1] : grid.z_center(k));
  return points;
}

/// Calls visit(point) at up to `most` points along x and y at a time, until it returns false.
void for_points(const Points& points, std::int64_t most, double t, const auto& visit) {
  const std::int64_t stride_x = (points.nx + most - 1) / most;
  const std::int64_t stride_y = (points.ny + most - 1) / most;
  for (const double z : points.z)
    for (std::int64_t j = 0; j < points.ny; j += stride_y)
      for (std::int64_t i = 0; i < points.nx; i += stride_x)
        if (!visit(points.at(i, j, z, t))) return;
}

bool is_finite(double value) {
  return std::isfinite(static_cast<real>(value));
}

/// The first point at which a formula is not finite.
std::optional<FormulaPoint> not_finite_at(const Formula& formula, const Points& points, std::int64_t most, double t) {
  std::optional<FormulaPoint> bad;
  for_points(points, most, t, [&](const FormulaPoint& at) {
    if (!is_finite(formula(at))) bad = at;
    return !bad;
  });
  return bad;
}

/// The time between a good and a bad one at which a value stops being finite.
double first_bad_time(double good, double bad, const auto& value_at) {
  for (int n = 0; n < 60; ++n) {
    const double middle = (good + bad) / 2;
    (is_finite(value_at(middle)) ? good : bad) = middle;
  }
  return bad;
}

std::string place_of(const Formula& formula, const FormulaPoint& at) {
  std::string place;
  if (formula.depends_on("x")) place += fmt::format(", x = {:.4g}", at.x);
  if (formula.depends_on("y")) place += fmt::format(", y = {:.4g}", at.y);
  if (formula.depends_on("z")) place += fmt::format(", z = {:.4g}", at.z);
  return place;
}

constexpr const char* advice =
    "give a formula that is finite everywhere and at all times of the run, such as sqrt(max(0, ...))";

class Check {
 public:
  Check(const io::Case& settings, const Grid& grid, double begin, double end)
      : settings_(settings), grid_(grid), begin_(begin), end_(end) {}

  void try_forcing(const std::string& section, const ForcingParameters& forcing) {
    const TimeFunction& value = forcing.value;
    if (forcing.kind == ForcingKind::none || value.is_constant() || value.is_table()) return;
    const std::string key = fmt::format("flow.{}.{}", section, io::name(forcing.kind));
    if (!is_finite(value.at_time(begin_))) return add_fault(key, value.text(), "");
    double good = begin_;
    for (int n = 1; n <= max_times_of_forcing; ++n) {
      const double t = time_of(n, max_times_of_forcing);
      if (!is_finite(value.at_time(t))) {
        const double bad = first_bad_time(good, t, [&](double at) { return value.at_time(at); });
        return add_failure(key, value.text(), bad, "");
      }
      good = t;
    }
  }

  void try_wall(const std::string& side, const WallCondition& wall, double z) {
    for (std::size_t n = 0; n < wall.velocity.size(); ++n) {
      const Location location = n == 0 ? Location::x_face : n == 1 ? Location::y_face : Location::z_face;
      const std::string key = fmt::format("walls.{}.velocity[{}]", side, n);
      try_at_wall(key, key, wall.velocity[n], location, z);
    }
  }

  void try_scalar(std::size_t number, const ScalarParameters& scalar) {
    const std::string path = fmt::format("scalars[{}]", number);
    for (const auto& [side, wall, z] :
         {std::tuple("bottom", &scalar.bottom, 0.0), std::tuple("top", &scalar.top, grid_.length_z())}) {
      if (settings_.flow.periodic_z) break;
      try_at_wall(fmt::format("{}.walls.{}.{}", path, side, io::name(wall->kind)),
                  fmt::format("the scalar {} at the {}", scalar.name, side), wall->value, Location::center, z);
    }
    if (begin_ == 0 && scalar.initial) try_initial(path + ".initial", *scalar.initial, Location::center);
  }

  void try_initial_velocity() {
    if (begin_ > 0) return;
    if (const auto& profile = settings_.initial.profile) {
      try_initial("initial.profile[0]", (*profile)[0], Location::center);
      try_initial("initial.profile[1]", (*profile)[1], Location::center);
    }
    if (settings_.initial.kind != io::InitialKind::formula) return;
    const auto& velocity = settings_.initial.velocity;
    try_initial("initial.velocity[0]", velocity[0], Location::x_face);
    try_initial("initial.velocity[1]", velocity[1], Location::y_face);
    try_initial("initial.velocity[2]", velocity[2], Location::z_face);
  }

  /// What enters through a wall must leave.
  void try_fluxes() {
    const Formula bottom = settings_.flow.bottom.total_velocity(2);
    const Formula top = settings_.flow.top.total_velocity(2);
    if (!bottom.depends_on("xy") && !top.depends_on("xy")) return;  // equal, by the rules of the case file
    const Points points = wall_points(grid_, Location::z_face, 0);
    const bool varies = bottom.depends_on("t") || top.depends_on("t");
    const std::int64_t times = varies ? std::clamp<std::int64_t>(max_means / (points.nx * points.ny), 1, 64) : 0;
    for (std::int64_t n = 0; n <= times; ++n) {
      const double t = n == 0 ? begin_ : time_of(static_cast<int>(n), static_cast<int>(times));
      const auto [of_bottom, magnitude_bottom] = means(bottom, points, t);
      const auto [of_top, magnitude_top] = means(top, points, t);
      if (!std::isfinite(of_bottom) || !std::isfinite(of_top)) return;  // reported by try_wall
      if (fluxes_balance(of_bottom, of_top, magnitude_bottom + magnitude_top)) continue;
      (n == 0 ? findings_.faults : findings_.failures)
          .push_back("walls: " + text_of_unbalanced_fluxes(of_bottom, of_top, t));
      return;
    }
  }

  FormulaFindings findings() const { return findings_; }

 private:
  /// n of `count` times after the begin, the last of them the end.
  double time_of(int n, int count) const { return n == count ? end_ : begin_ + (end_ - begin_) * n / count; }

  void add_fault(const std::string& key, const std::string& formula, const std::string& place) {
    findings_.faults.push_back(
        fmt::format("{}: {} is not finite at time {:g}{}; {}", key, formula, begin_, place, advice));
  }

  void add_failure(const std::string& key, const std::string& formula, double time, const std::string& place) {
    findings_.failures.push_back(
        fmt::format("{}: {} stops being finite at time {:.6g}{}; {}", key, formula, time, place, advice));
  }

  /// `name`: of the quantity.
  void try_at_wall(const std::string& key, const std::string& name, const Formula& formula, Location location,
                   double z) {
    if (formula.is_constant()) return;
    const Points points = wall_points(grid_, location, z);
    const std::int64_t all = std::max(points.nx, points.ny);
    if (const auto bad = not_finite_at(formula, points, all, begin_))
      return add_fault(key, formula.text(), place_of(formula, *bad));
    if (!try_later(key, formula, points)) return;
    warn_of_seam(name, formula, "xy");
  }

  /// Returns whether the formula stays finite.
  bool try_later(const std::string& key, const Formula& formula, const Points& points) {
    double good = begin_;
    for (int n = 1; formula.depends_on("t") && n <= max_times; ++n) {
      const double t = time_of(n, max_times);
      if (const auto bad = not_finite_at(formula, points, max_points_along, t)) {
        // At a grid that moves, this point was another at other times.
        const double time = first_bad_time(
            good, t, [&](double at) { return formula({.x = bad->x, .y = bad->y, .z = bad->z, .t = at}); });
        add_failure(key, formula.text(), time, place_of(formula, *bad));
        return false;
      }
      good = t;
    }
    return true;
  }

  void try_initial(const std::string& key, const Formula& formula, Location location) {
    if (formula.is_constant()) return;
    if (const auto bad = not_finite_at(formula, volume_points(grid_, location), max_initial_along, 0))
      return add_fault(key, formula.text(), place_of(formula, *bad));
    warn_of_seam(key, formula, settings_.flow.periodic_z ? "xyz" : "xy");
  }

  void warn_of_seam(const std::string& name, const Formula& formula, const std::string& axes) {
    const std::array<double, 3> lengths{grid_.length_x(), grid_.length_y(), grid_.length_z()};
    for (const char axis : axes) {
      const std::string fault = seam_fault(formula, axis, lengths, begin_, end_);
      if (!fault.empty()) findings_.warnings.push_back(name + " is not periodic: " + fault);
    }
  }

  /// The means of a formula and of its magnitude over a wall.
  static std::pair<double, double> means(const Formula& formula, const Points& points, double t) {
    if (formula.is_constant()) return {formula.constant(), std::abs(formula.constant())};
    double sum = 0;
    double magnitude = 0;
    for_points(points, std::max(points.nx, points.ny), t, [&](const FormulaPoint& at) {
      const double value = formula(at);
      sum += value;
      magnitude += std::abs(value);
      return true;
    });
    const auto count = static_cast<double>(points.nx * points.ny);
    return {sum / count, magnitude / count};
  }

  const io::Case& settings_;
  const Grid& grid_;
  double begin_, end_;
  FormulaFindings findings_;
};

}  // namespace

FormulaFindings check_formulas(const io::Case& settings, const Grid& grid, double begin, double end) {
  const FlowParameters& flow = settings.flow;
  Check check(settings, grid, begin, std::max(begin, end));
  check.try_forcing("forcing", flow.forcing);
  check.try_forcing("spanwise_forcing", flow.spanwise_forcing);
  if (!flow.periodic_z) {
    check.try_wall("bottom", flow.bottom, 0);
    check.try_wall("top", flow.top, grid.length_z());
    check.try_fluxes();
  }
  for (std::size_t n = 0; n < flow.scalars.size(); ++n) check.try_scalar(n, flow.scalars[n]);
  check.try_initial_velocity();
  return check.findings();
}

void require_startable(const FormulaFindings& findings) {
  if (findings.faults.empty()) return;
  throw Error(ExitCode::usage, fmt::format("the run cannot start:\n{}", fmt::join(findings.faults, "\n")));
}

}  // namespace sluice
