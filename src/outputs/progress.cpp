#include "src/outputs/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "core/device/timers.hpp"
#include "core/support/collective.hpp"
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

std::string readable_nanoseconds(double nanoseconds) {
  return fmt::format("{:.{}f}", nanoseconds, nanoseconds < 1 ? 4 : 2);
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

namespace {

class ProgressObserver : public Observer {
 public:
  explicit ProgressObserver(const RunContext& run) : run_(run) {}

  bool due(const Moment& now) const override {
    const std::optional<std::int64_t>& every = run_.simulation.settings.output.log_every;
    return now.occasion == Occasion::step && (now.first || now.line_due || (every && now.step % *every == 0));
  }

  void observe(const Moment& now) override {
    run_.times.logged = wall_seconds();
    const Simulation& s = run_.simulation;
    const Diagnostics& d = run_.flow.diagnostics();
    const double per_step = run_.times.stepping / static_cast<double>(run_.times.steps);
    std::string left;
    if (!now.first) left = fmt::format("  {} left", readable_duration(steps_left(s, run_.accuracy) * per_step));
    if (!now.first && run_.accuracy) left += ", " + farthest_limit(*run_.accuracy);
    run_on_root(s.comm.world(), [&] {
      run_.log.line(fmt::format(
          "step {:7d}  time {:9.4f}  dt {:.3e}{}  U_b {:.4f}  energy {:.5f}  div {:.1e}  {} ns/point{}", now.step,
          now.time, s.dt, friction_text(s.flow, d, 7, 2), d.bulk_velocity, d.kinetic_energy, d.max_divergence,
          readable_nanoseconds(per_step / static_cast<double>(s.grid.points()) * 1e9), left));
    });
  }

 private:
  RunContext run_;
};

}  // namespace

std::unique_ptr<Observer> make_progress(const RunContext& run) {
  return std::make_unique<ProgressObserver>(run);
}

}  // namespace sluice
