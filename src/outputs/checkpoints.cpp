// Checkpoints: on schedule, on request and at the end.
#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <system_error>

#include "core/device/timers.hpp"
#include "core/support/collective.hpp"
#include "io/files/checkpoint_directory.hpp"
#include "src/outputs/checkpoint.hpp"
#include "src/outputs/observers.hpp"
#include "src/outputs/schedule.hpp"

namespace sluice {

namespace {

namespace fs = std::filesystem;

/// Estimate until the first checkpoint is timed: a slow disk, plus the latency of opening and synchronising files.
double estimated_seconds(const Simulation& simulation) {
  constexpr double bytes_per_second = 2e8;
  constexpr double latency = 0.2;
  return latency + checkpoint_bytes(simulation.grid) / bytes_per_second;
}

class CheckpointObserver : public Observer {
 public:
  explicit CheckpointObserver(const RunContext& run) : run_(run), folder_(run.directory + "/checkpoints") {
    run_.times.checkpoint = estimated_seconds(run.simulation);
  }

  /// Removes later checkpoints only if the user chose an earlier one: their time series and statistics are removed too,
  /// so a restart must not find them.
  void go_back(const Start& start) override {
    std::error_code ignored;  // the user may give a relative path
    const fs::path from = fs::absolute(start.checkpoint, ignored).lexically_normal();
    if (!start.checkpoint.empty() && from.parent_path() == fs::path(folder_)) saved_step_ = start.step;
    if (!start.chosen) return;
    run_on_root(run_.simulation.comm.world(),
                [&] { warn(io::prune_checkpoints(folder_, start.step, std::numeric_limits<int>::max())); });
  }

  bool due(const Moment& now) const override {
    if (now.step == saved_step_) return false;
    if (now.occasion != Occasion::step) return true;
    const auto& every = run_.simulation.settings.output.checkpoint_every;
    return every && Schedule{*every}.passed(now.previous_time, now.time);
  }

  /// Writes at once, on all ranks, because a copy of the fields may not fit in host memory.
  std::function<void()> observe(const Moment& now) override {
    run_.flow.diagnostics();  // refuses to save a flow that is not finite
    run_.observers.sync();
    const double start = wall_seconds();
    warn(write_checkpoint(run_.simulation, run_.flow.state(), run_.observers, run_.directory));
    saved_step_ = now.step;
    run_.times.checkpoint = wall_seconds() - start;
    run_.log.line(
        fmt::format("Checkpoint at step {}, time {:g} ({:.2f} s)", now.step, now.time, run_.times.checkpoint));
    return {};
  }

 private:
  void warn(const std::vector<std::string>& warnings) {
    for (const std::string& warning : warnings) run_.log.line("warning: " + warning);
  }

  RunContext run_;
  std::string folder_;
  std::int64_t saved_step_ = -1;  ///< of the newest checkpoint
};

}  // namespace

std::unique_ptr<Observer> make_checkpoints(const RunContext& run) {
  return std::make_unique<CheckpointObserver>(run);
}

}  // namespace sluice
