// Log line with the state of the flow and the speed of the run.
#include <fmt/format.h>

#include <optional>

#include "core/device/timers.hpp"
#include "core/support/collective.hpp"
#include "src/outputs/observer.hpp"
#include "src/outputs/progress_line.hpp"

namespace sluice {

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
      run_.log.line(
          fmt::format("step {:7d}  time {:9.4f}  dt {:.3e}{}  U_b {:.4f}  energy {:.5f}  div {:.1e}  {:.1f} ns/point{}",
                      now.step, now.time, s.dt, friction_text(s.flow, d, 7, 2), d.bulk_velocity, d.kinetic_energy,
                      d.max_divergence, per_step / static_cast<double>(s.grid.points()) * 1e9, left));
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
