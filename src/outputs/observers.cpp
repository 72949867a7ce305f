#include "src/outputs/observer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <ranges>
#include <system_error>
#include <utility>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "model/mean_flow.hpp"
#include "src/run/time_step_estimate.hpp"

namespace sluice {

// The source file of an observer defines its make function, which may return null.
std::unique_ptr<Observer> make_time_series(const RunContext& run);
std::unique_ptr<Observer> make_statistics(const RunContext& run);
std::unique_ptr<Observer> make_spectra(const RunContext& run);
std::unique_ptr<Observer> make_densities(const RunContext& run);
std::unique_ptr<Observer> make_slices(const RunContext& run);
std::unique_ptr<Observer> make_probes(const RunContext& run);
std::unique_ptr<Observer> make_fields(const RunContext& run);
std::unique_ptr<Observer> make_catalyst(const RunContext& run);
std::unique_ptr<Observer> make_progress(const RunContext& run);
std::unique_ptr<Observer> make_checkpoints(const RunContext& run);

namespace {

struct ObserverRow {
  const char* name;
  const char* file;  ///< the file or folder that it writes into the output directory; "" if it writes none
  std::unique_ptr<Observer> (*make)(const RunContext& run);
};

/// All observers, in the order in which they act: checkpoints last, because they store the data of the others.
constexpr std::array observer_table{
    ObserverRow{"time_series", "timeseries.csv", make_time_series},
    ObserverRow{"statistics", "statistics.h5", make_statistics},
    ObserverRow{"spectra", "spectra.h5", make_spectra},
    ObserverRow{"densities", "densities.h5", make_densities},
    ObserverRow{"slices", "slices", make_slices},
    ObserverRow{"probes", "probes", make_probes},
    ObserverRow{"fields", "fields", make_fields},
    ObserverRow{"catalyst", "", make_catalyst},
    ObserverRow{"progress", "", make_progress},
    ObserverRow{"checkpoints", "checkpoints", make_checkpoints},
};

}  // namespace

Observers::Observers(Simulation& simulation, RunLog& log, RunTimes& times, std::optional<Accuracy>& accuracy,
                     Watchdog& watchdog, const std::string& directory, bool embedded)
    : watchdog_(watchdog), times_(times), flow_(simulation) {
  for (const auto& [name, file, make] : observer_table) {
    if (auto observer = make({simulation, flow_, log, times, accuracy, *this, embedded, directory + "/" + file}))
      list_.push_back({name, fmt::format("output of {} at step", name), std::move(observer)});
  }
}

void Observers::restore(const io::CheckpointReader& checkpoint) {
  for (const Entry& entry : list_) entry.observer->restore(checkpoint);
}

std::vector<std::string> Observers::check_files(const Start& start) {
  std::vector<std::string> losses;
  for (const Entry& entry : list_) std::ranges::move(entry.observer->check_files(start), std::back_inserter(losses));
  return losses;
}

void Observers::go_back(const Start& start) {
  // Checkpoints first: after a kill, the newest one must be one that the other files still reach.
  for (const Entry& entry : std::views::reverse(list_)) entry.observer->go_back(start);
}

bool Observers::due(const Moment& now) const {
  return std::ranges::any_of(list_, [&](const Entry& entry) { return entry.observer->due(now); });
}

void Observers::observe(const Moment& now) {
  for (const auto& [name, task, observer] : list_) {
    if (!observer->due(now)) continue;
    watchdog_.begin(Watchdog::Task::output, task, now.step);
    const double begin = wall_seconds();
    observer->observe(now);
    times_.outputs[name] += wall_seconds() - begin;
  }
}

void Observers::finish() {
  for (const auto& [name, task, observer] : list_) {
    watchdog_.begin(Watchdog::Task::output, "end of the run");
    observer->finish();
  }
}

void Observers::sync() {
  for (const Entry& entry : list_) entry.observer->sync();
}

void Observers::save(io::ValueGroups& checkpoint) const {
  for (const Entry& entry : list_) entry.observer->save(checkpoint);
}

namespace {

/// Far above the round-off in |div u| dt_lim, which is about 10 epsilon of the velocity over the narrowest cell.
double default_divergence_limit(const Diagnostics& diagnostics, const Grid& grid, double dt_lim) {
  constexpr double epsilon = std::numeric_limits<real>::epsilon();
  const double speed = std::sqrt(2 * diagnostics.kinetic_energy);
  const double rate = speed * (1 / grid.dx() + 1 / grid.dy() + 1 / grid.dz_min());
  return std::max(std::sqrt(epsilon), 64 * epsilon * rate * dt_lim);
}

/// Refuses a flow whose mass is not conserved: the relative change of a cell's volume in the longest stable step.
void check_divergence(const Diagnostics& diagnostics, const Simulation& simulation, double dt_lim) {
  const double relative = diagnostics.max_divergence * dt_lim;
  const double limit =
      simulation.settings.max_divergence.value_or(default_divergence_limit(diagnostics, simulation.grid, dt_lim));
  if (relative <= limit) return;
  throw Error(
      ExitCode::numerics,
      fmt::format("div u is not zero at step {} (time {:g}): the largest |div u| dt_lim is {:.3g}, the limit "
                  "solver.max_divergence is {:.3g}. The projection makes it zero to round-off whatever the time "
                  "step, so data was damaged, in memory or between ranks; restart from the newest checkpoint, on "
                  "other machines or with another parallel.exchange if it happens again",
                  simulation.step(), simulation.time(), relative, limit));
}

}  // namespace

bool has_files(const RunContext& run) {
  std::error_code ignored;
  const MPI_Comm comm = run.simulation.comm.world();
  int exists = rank_of(comm) == 0 && std::filesystem::exists(run.path, ignored) ? 1 : 0;
  check_mpi(MPI_Bcast(&exists, 1, MPI_INT, 0, comm), "MPI_Bcast");
  return exists == 1;
}

void FlowView::sample(Spectra& spectra) {
  simulation_->stepper.sample(simulation_->state(), simulation_->forcing.x, spectra);
}

const Diagnostics& FlowView::diagnostics() {
  if (diagnosed_step_ == simulation_->step()) return diagnostics_;
  const State& now = state();
  diagnostics_ = simulation_->stepper.diagnose(now);
  diagnosed_step_ = now.step;
  if (!diagnostics_.finite()) {
    throw Error(
        ExitCode::numerics,
        fmt::format("the flow is not finite at step {} (time {:g}): the run has blown up; {}", now.step, now.time,
                    blow_up_advice(simulation_->settings, simulation_->grid, now.time, simulation_->dt)));
  }
  check_divergence(diagnostics_, *simulation_, simulation_->stable_dt());
  return diagnostics_;
}

std::vector<std::string> require_agreement(const Mismatch& mismatch, const Start& start) {
  if (mismatch.kind == Mismatch::Kind::none) return {};
  if (mismatch.kind == Mismatch::Kind::lost && start.allow_change) return {mismatch.text};
  const char* remedy =
      mismatch.kind == Mismatch::Kind::lost
          ? ". Put the file back, restart from a checkpoint that it reaches, or say --allow-change to "
            "go on without what is lost"
          : ". Put the right file back, or move this one away and say --allow-change to begin a new one";
  throw Error(ExitCode::restart, mismatch.text + remedy);
}

std::string friction_text(const FlowParameters& flow, const Diagnostics& diagnostics, int width, int decimals) {
  std::string text;
  const auto add = [&](const WallCondition& wall, const char* name, double stress) {
    if (wall.drags()) text += fmt::format(" {} {:{}.{}f}", name, re_tau(stress, flow.viscosity), width, decimals);
  };
  add(flow.bottom, "bottom", diagnostics.stress_bottom);
  add(flow.top, "top", diagnostics.stress_top);
  return text.empty() ? "" : "  Re_tau" + text;
}

}  // namespace sluice
