#include "src/run/autotune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/device/flat_loops.hpp"
#include "core/device/memory.hpp"
#include "core/device/timers.hpp"
#include "core/support/collective.hpp"
#include "src/run/memory_estimate.hpp"
#include "src/run/setup.hpp"
#include "src/run/simulation.hpp"

namespace sluice {

namespace {

constexpr double budget = 8;               ///< seconds after which no further measurement starts
constexpr double target_seconds = 0.1;     ///< minimum total of the substeps that measure a layout
constexpr int min_substeps = 3;            ///< minimum per layout
constexpr int max_substeps = 30;           ///< maximum per layout, however short they are
constexpr double skip_repeat_above = 0.5;  ///< seconds per substep
constexpr double skip_repeat_ratio = 1.5;  ///< times the best: a slower layout is not repeated
constexpr double skip_after_warm_up = 2;   ///< seconds: a layout whose warm-up takes longer is not measured further
constexpr double skip_after_warm_up_ratio = 4;  ///< times the best: the warm-up must exceed this, too
constexpr double promising = 1.25;              ///< times the best: such a layout is tried with other methods
constexpr double noise = 1.02;                  ///< times the best: considered equal
constexpr std::size_t grids_kept = 2;           ///< number of grids from the first stage to measure with all methods

/// Noise has no mean flow, which a force of given power needs. This replaces it by another force that also sums u*.
io::Case without_power(io::Case settings) {
  if (settings.flow.forcing.kind == ForcingKind::power) settings.flow.forcing = {ForcingKind::bulk_velocity, 0};
  return settings;
}

/// Substeps of the run's own solver with one layout. Their own flow starts from noise: its numbers stay far above
/// denormals, which slow a CPU down.
class TimedSubsteps {
 public:
  TimedSubsteps(const io::Case& settings, const Grid& grid, const Layout& layout, MPI_Comm world)
      : simulation_(without_power(settings), grid, layout, world) {
    for (Field* f : {&velocity().u, &velocity().v, &velocity().w})
      fill_with_noise(f->buffer().data(), f->buffer().size());
    simulation_.stepper.fill_halos(simulation_.state());
    choose_dt(simulation_.stepper.time_step_limit(simulation_.state()));
  }

  /// Time of substep k on the slowest rank, in seconds. Collective.
  double seconds_of(int k) {
    device::synchronize();
    check_mpi(MPI_Barrier(simulation_.comm.world()), "MPI_Barrier");
    const double start = wall_seconds();
    simulation_.stepper.substep(simulation_.state(), dt_, k);
    device::synchronize();
    double seconds = wall_seconds() - start;
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, simulation_.comm.world()), "MPI_Allreduce");
    if (k + 1 == Rk3::substeps)
      choose_dt(simulation_.stepper.time_step_limit(simulation_.stepper.reduce_rate_of_step()));
    return seconds;
  }

 private:
  VectorField& velocity() { return simulation_.state().velocity; }

  /// Uses half the limit whatever the case says, so that the flow stays finite. If it does not, the time still counts.
  void choose_dt(double limit) {
    if (std::isfinite(limit)) dt_ = limit / 2;
  }

  Simulation simulation_;
  double dt_ = 0;
};

/// Minimum time of a substep. The first one is left out: in it libraries connect the ranks and memory is touched for
/// the first time. Stops early for a layout that takes much longer than `best`.
double time_of_substep(const io::Case& settings, const Grid& grid, const Layout& layout, double best, MPI_Comm world) {
  TimedSubsteps substeps(settings, grid, layout, world);
  const double warm_up = substeps.seconds_of(0);
  if (warm_up > skip_after_warm_up && warm_up > skip_after_warm_up_ratio * best) return warm_up;
  double min_seconds = std::numeric_limits<double>::max();
  double spent = 0;
  for (int n = 0; n < min_substeps || (n < max_substeps && spent < target_seconds); ++n) {
    const double seconds = substeps.seconds_of(1 + n % 2);  // the last two of a step, which do equal work
    min_seconds = std::min(min_seconds, seconds);
    spent += seconds;
    if (min_seconds > skip_repeat_ratio * best || seconds > skip_repeat_above) break;
  }
  return min_seconds;
}

/// Measures layouts while time permits, each once except the first.
class Measurements {
 public:
  Measurements(const io::Case& settings, const Grid& grid, const FlowParameters& flow, MPI_Comm world)
      : settings_(settings), grid_(grid), flow_(flow), world_(world), start_(wall_seconds()) {}

  void add(const Layout& layout) {
    if (std::ranges::any_of(table_, [&](const auto& entry) { return entry.layout == layout; })) return;
    if (table_.empty()) {
      require_memory(flow_, decomposition_of(layout), layout.exchange, world_);
    } else if (agree_that_time_is_over() || !has_memory(flow_, decomposition_of(layout), layout.exchange, world_)) {
      ++left_out_;
      return;
    }
    const double best = table_.empty() ? std::numeric_limits<double>::max() : fastest().seconds;
    table_.push_back({layout, time_of_substep(settings_, grid_, layout, best, world_)});
  }

  /// Measures the first layout again if another was faster: the first measurement may run on a cold machine.
  void repeat_first() {
    MeasuredLayout& first = table_.front();
    const double best = fastest().seconds;
    if (first.seconds <= best || agree_that_time_is_over()) return;
    first.seconds = std::min(first.seconds, time_of_substep(settings_, grid_, first.layout, best, world_));
  }

  /// The fastest layouts, `count` at most, as far as they are close to the best.
  std::vector<MeasuredLayout> best(std::size_t count) const {
    std::vector<MeasuredLayout> by_time = table_;
    std::ranges::sort(by_time, {}, &MeasuredLayout::seconds);
    by_time.resize(std::min(by_time.size(), count));
    std::erase_if(by_time, [&](const auto& entry) { return entry.seconds > promising * by_time.front().seconds; });
    return by_time;
  }

  const MeasuredLayout& fastest() const { return *std::ranges::min_element(table_, {}, &MeasuredLayout::seconds); }
  const std::vector<MeasuredLayout>& table() const { return table_; }
  int left_out() const { return left_out_; }
  double seconds() const { return wall_seconds() - start_; }

 private:
  Decomposition decomposition_of(const Layout& layout) const {
    return {settings_.cells, layout.processes, settings_.z_blocks};
  }

  /// Whether the time is over by the clock of rank 0, so that all ranks agree. Collective.
  bool agree_that_time_is_over() {
    double seconds = wall_seconds() - start_;
    check_mpi(MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, world_), "MPI_Bcast");
    return seconds > budget;
  }

  const io::Case& settings_;
  const Grid& grid_;
  const FlowParameters& flow_;
  MPI_Comm world_;
  double start_;
  std::vector<MeasuredLayout> table_;
  int left_out_ = 0;
};

/// Whether ranks of such a grid exchange data of this kind.
bool carries(const ProcessGrid& processes, const ExchangeMethods::Kind& kind) {
  if (kind.method == &ExchangeMethods::rows) return processes.py > 1;
  if (kind.method == &ExchangeMethods::columns) return processes.pz > 1;
  return true;
}

/// The process grids and exchange methods that a case and its ranks allow.
class Choices {
 public:
  Choices(const io::Case& settings, MPI_Comm world) : given_(settings.exchange), methods_(exchange_candidates(world)) {
    const int ranks = size_of(world);
    default_grid_ = choose_process_grid(settings, ranks);
    grids_ = settings.process_grid ? std::vector{default_grid_} : process_grids(settings, ranks);
  }

  const std::vector<ProcessGrid>& grids() const { return grids_; }
  const std::vector<std::string>& methods() const { return methods_; }
  bool is_open(const ExchangeMethods::Kind& kind) const { return given_.*kind.method == "auto"; }
  bool is_single() const {
    return grids_.size() == 1 &&
           (methods_.size() == 1 ||
            std::ranges::none_of(ExchangeMethods::kinds(), [&](auto& kind) { return is_open(kind); }));
  }

  /// The given methods, with `method` for all kinds left open.
  ExchangeMethods with(const std::string& method) const {
    ExchangeMethods all = given_;
    for (const auto& kind : ExchangeMethods::kinds()) {
      if (is_open(kind)) all.*kind.method = method;
    }
    return all;
  }
  Layout default_layout() const { return {default_grid_, with(methods_.front())}; }

  bool allow(const Layout& layout) const {
    return std::ranges::find(grids_, layout.processes) != grids_.end() &&
           std::ranges::all_of(ExchangeMethods::kinds(), [&](const auto& kind) {
             const std::string& method = layout.exchange.*kind.method;
             return is_open(kind) ? std::ranges::find(methods_, method) != methods_.end()
                                  : method == given_.*kind.method;
           });
  }

 private:
  ExchangeMethods given_;
  ProcessGrid default_grid_;
  std::vector<ProcessGrid> grids_;
  std::vector<std::string> methods_;
};

}  // namespace

Tuning tune(const io::Case& settings, const Grid& grid, const FlowParameters& flow, const std::optional<Layout>& stored,
            MPI_Comm world) {
  const Choices choices(settings, world);
  const Layout usual = choices.default_layout();
  if (stored && choices.allow(*stored)) return {*stored, {}};
  if (size_of(world) == 1 || choices.is_single()) return {usual, {}};

  // First the default; then all grids with its methods; then other methods for all traffic on the best grids.
  Measurements measurements(settings, grid, flow, world);
  measurements.add(usual);
  for (const ProcessGrid& processes : choices.grids()) measurements.add({processes, usual.exchange});
  for (const MeasuredLayout& entry : measurements.best(grids_kept)) {
    for (const std::string& method : choices.methods())
      measurements.add({entry.layout.processes, choices.with(method)});
  }
  measurements.repeat_first();

  // Then, on the best layout, the methods that came close, for one kind of traffic at a time.
  const std::vector<MeasuredLayout> close = measurements.best(choices.methods().size());
  for (const auto& kind : ExchangeMethods::kinds()) {
    for (const MeasuredLayout& entry : close) {
      Layout layout = measurements.fastest().layout;
      if (entry.layout.processes != layout.processes || !carries(layout.processes, kind)) continue;
      layout.exchange.*kind.method = entry.layout.exchange.*kind.method;
      measurements.add(layout);
    }
  }

  Tuning tuning{measurements.fastest().layout, measurements.table(), measurements.left_out(), measurements.seconds()};
  if (tuning.table.front().seconds <= noise * measurements.fastest().seconds) tuning.chosen = usual;
  device::reset_peak_bytes();  // report the peak of the run, not that of rejected layouts
  return tuning;
}

std::vector<std::string> table_lines(const Tuning& tuning) {
  std::vector<std::string> lines;
  if (tuning.table.empty()) return lines;
  lines.push_back(fmt::format("A substep with each layout, measured in {:.1f} s (py x pz, method):", tuning.seconds));
  for (const MeasuredLayout& entry : tuning.table) {
    const bool chosen = entry.layout == tuning.chosen;
    lines.push_back(fmt::format("  {} x {}  {:<14}{:10.3f} ms{}", entry.layout.processes.py, entry.layout.processes.pz,
                                entry.layout.exchange.text(), entry.seconds * 1e3, chosen ? "  chosen" : ""));
  }
  if (tuning.left_out > 0)
    lines.push_back(fmt::format("  {} more not measured: no time or memory for them", tuning.left_out));
  return lines;
}

}  // namespace sluice
