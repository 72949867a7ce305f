#include "src/outputs/progress_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "core/device/timers.hpp"
#include "src/outputs/observer.hpp"

namespace sluice {

namespace {

/// Of the whole case, not of this start.
double percent_done(const Simulation& simulation) {
  const io::TimeSpec& time = simulation.settings.time;
  if (time.steps) return 100 * static_cast<double>(simulation.step()) / static_cast<double>(*time.steps);
  return *time.end > 0 ? 100 * simulation.time() / *time.end : 100;
}

}  // namespace

std::string readable_duration(double seconds) {
  constexpr double minute = 60;
  constexpr double day = 86400;
  if (!(seconds >= 0)) return "unknown time";
  if (seconds > 1000 * day) return fmt::format("{:.0f} d", seconds / day);
  const auto total = static_cast<std::int64_t>(std::round(seconds));
  if (seconds < 2 * minute) return fmt::format("{} s", total);
  const std::int64_t hours = total / 3600;
  if (seconds < day) return fmt::format("{}:{:02}:{:02}", hours, total / 60 % 60, total % 60);
  return fmt::format("{} d {:02}:{:02}", hours / 24, hours % 24, total / 60 % 60);
}

double steps_left(const Simulation& simulation, const std::optional<Accuracy>& accuracy) {
  const io::TimeSpec& time = simulation.settings.time;
  const auto to = [&](double end) { return (end - simulation.time()) / simulation.dt; };
  double steps = time.steps ? static_cast<double>(*time.steps - simulation.step()) : to(*time.end);
  if (accuracy) steps = std::min(steps, to(accuracy->expected_time));
  return std::max(0.0, steps);
}

void ProgressLine::update(const Simulation& simulation, const RunTimes& times, const std::optional<Accuracy>& accuracy,
                          const Diagnostics* diagnostics) {
  constexpr double interval = 0.5;  // seconds
  if (!log_.has_terminal() || wall_seconds() < updated_ + interval) return;
  updated_ = wall_seconds();
  const double per_step = times.stepping / static_cast<double>(std::max<std::int64_t>(1, times.steps));
  std::string line =
      fmt::format("{:5.1f} %  step {}  time {:.3f}", percent_done(simulation), simulation.step(), simulation.time());
  if (diagnostics != nullptr) line += friction_text(simulation.flow, *diagnostics, 0, 1);
  log_.status(line + "  " + readable_duration(steps_left(simulation, accuracy) * per_step) + " left");
}

}  // namespace sluice
