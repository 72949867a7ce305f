#include <fmt/format.h>
#include <mpi.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "core/device/memory.hpp"
#include "core/device/timers.hpp"
#include "core/support/collective.hpp"
#include "io/case/case_file.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/checkpoint_directory.hpp"
#include "src/commands/case_input.hpp"
#include "src/commands/commands.hpp"
#include "src/outputs/checkpoint.hpp"
#include "src/outputs/output.hpp"
#include "src/outputs/run_record.hpp"
#include "src/outputs/schedule.hpp"
#include "src/run/initial_file.hpp"
#include "src/run/memory_estimate.hpp"
#include "src/run/setup.hpp"
#include "src/run/stop_control.hpp"

namespace sluice {

namespace {

namespace fs = std::filesystem;

/// The command line's options that change the case, as settings of keys.
CaseOptions with_run_options(const RunOptions& options) {
  CaseOptions input = options.input;
  if (options.steps) input.settings.push_back(fmt::format("time.steps={}", *options.steps));
  if (!options.walltime.empty()) input.settings.push_back("walltime=" + io::quoted_yaml(options.walltime));
  if (!options.output.empty()) input.settings.push_back("output.directory=" + io::quoted_yaml(options.output));
  return input;
}

/// True if the file lies in the directory or below it.
bool lies_in(const std::string& file, const fs::path& directory) {
  const fs::path relative = fs::weakly_canonical(file).lexically_relative(fs::weakly_canonical(directory));
  return !relative.empty() && *relative.begin() != "..";
}

/// Whether this run may write to its output directory, on rank 0. Throws Error(usage).
void check_directory(const RunOptions& options, const io::Case& settings) {
  const fs::path directory(settings.output.directory);
  const bool holds_results = fs::exists(directory / "resolved.yaml") || fs::exists(directory / "checkpoints") ||
                             fs::exists(directory / "timeseries.csv");
  if (!holds_results) return;
  if (options.restart.empty() && !options.overwrite) {
    throw Error(ExitCode::usage, fmt::format("{}: the output directory holds results already; say --restart auto to go "
                                             "on with them, --overwrite to replace them, or --output for another",
                                             directory.string()));
  }
  if (!options.restart.empty() && options.restart != "auto" && !lies_in(options.restart, directory)) {
    throw Error(
        ExitCode::usage,
        fmt::format(
            "{}: the output directory holds results of another run than {} comes from; choose another with --output",
            directory.string(), options.restart));
  }
  if (options.overwrite && !settings.initial.file.empty() && lies_in(settings.initial.file, directory)) {
    throw Error(ExitCode::usage,
                fmt::format("{}: --overwrite would remove initial.file, {}; choose another directory with --output",
                            directory.string(), settings.initial.file));
  }
}

/// Makes the output directory ready, or refuses to. Collective. Throws Error(usage) or Error(io).
void prepare_directory(const RunOptions& options, const io::Case& settings) {
  run_on_root(MPI_COMM_WORLD, [&] {
    const fs::path directory(settings.output.directory);
    try {
      check_directory(options, settings);
      fs::create_directories(directory);
      if (!options.overwrite) return;
      for (const char* name :
           {"checkpoints", "slices", "statistics.h5", "timeseries.csv", "run.json", "log.txt", "resolved.yaml"})
        fs::remove_all(directory / name);
    } catch (const fs::filesystem_error& error) {
      throw Error(ExitCode::io, fmt::format("{}: the output directory cannot be prepared: {}", directory.string(),
                                            error.code().message()));
    }
  });
}

/// One run of a case, from its start or a checkpoint to its end.
class Run {
 public:
  Run(const RunOptions& options, const io::Case& settings, const Grid& grid, Tuning tuning, double start);
  void go();

 private:
  void begin();
  bool restart_from_checkpoint();
  void abandon_later_checkpoints();
  void start_afresh();
  double likely_checkpoint_seconds() const;
  void loop();
  bool at_end() const;
  void step();
  void write_checkpoint_now();
  void log_progress();
  void close(const std::string& why);
  void record(const std::string& why);
  void try_to_record(const std::string& why);
  MPI_Comm comm() const { return simulation_.comm.world(); }

  const RunOptions& options_;
  std::string directory_;
  Tuning tuning_;
  Simulation simulation_;
  std::optional<Statistics> statistics_;
  std::unique_ptr<RunLog> log_;
  std::unique_ptr<Output> output_;
  StopControl control_;
  RunTimes times_;
  std::string started_from_;
  std::int64_t checkpointed_step_ = -1;
  bool warned_of_dt_ = false;
};

Run::Run(const RunOptions& options, const io::Case& settings, const Grid& grid, Tuning tuning, double start)
    : options_(options),
      directory_(settings.output.directory),
      tuning_(std::move(tuning)),
      simulation_(settings, grid, tuning_.chosen, MPI_COMM_WORLD),
      control_(simulation_.comm.world(), directory_, settings.walltime, start) {
  times_.start = start;
  if (settings.output.statistics) {
    statistics_.emplace(simulation_.grid, simulation_.stepper.metrics(), simulation_.flow, simulation_.stepper.walls(),
                        simulation_.state.p.box(), comm());
  }
}

void Run::begin() {
  run_collectively(comm(), [&] { log_ = std::make_unique<RunLog>(directory_ + "/log.txt", comm()); });
  const ProcessGrid& processes = simulation_.comm.processes();
  const auto& cells = simulation_.grid.cells();
  log_->line(fmt::format("Sluice: {}", simulation_.settings.title));
  log_->line(fmt::format("{} x {} x {} cells on {} process(es) as {} x {} (y x z), {}, {} precision, {}", cells[0],
                         cells[1], cells[2], processes.size(), processes.py, processes.pz, simulation_.exchange_name,
                         precision_name, device::description()));
  for (const std::string& line : table_lines(tuning_)) log_->line(line);
  output_ = std::make_unique<Output>(simulation_, statistics_ ? &*statistics_ : nullptr, directory_);
  if (options_.restart.empty() || !restart_from_checkpoint()) start_afresh();
  output_->go_back();
  if (!options_.restart.empty() && options_.restart != "auto") abandon_later_checkpoints();
  run_on_root(comm(),
              [&] { io::write_atomically(directory_ + "/resolved.yaml", io::resolved_yaml(simulation_.settings)); });
}

bool Run::restart_from_checkpoint() {
  std::string file = options_.restart;
  if (file == "auto") {
    const io::NewestIntact newest = io::newest_intact(comm(), directory_ + "/checkpoints");
    for (const std::string& warning : newest.warnings) log_->line("warning: " + warning);
    if (!newest.checkpoint) {
      if (newest.warnings.empty()) return false;
      throw Error(ExitCode::restart,
                  fmt::format("{}: there are checkpoints, but none of them can be read, and starting afresh would "
                              "remove them; mend or move them, or say --overwrite",
                              directory_ + "/checkpoints"));
    }
    file = newest.checkpoint->path;
  }
  const auto changes = read_checkpoint(simulation_, statistics_ ? &*statistics_ : nullptr, file, options_.allow_change);
  for (const std::string& change : changes) log_->line("changed on restart: " + change);
  started_from_ = file;
  checkpointed_step_ =
      fs::path(file).parent_path() == fs::path(directory_) / "checkpoints" ? simulation_.state.step : -1;
  log_->line(
      fmt::format("Restarted from {}: step {}, time {:g}", file, simulation_.state.step, simulation_.state.time));
  return true;
}

/// Going back to a checkpoint that was named, in a directory that holds later ones: a restart of this run must not find
/// those, whose time series and statistics are about to be removed.
void Run::abandon_later_checkpoints() {
  run_on_root(comm(), [&] {
    for (const std::string& warning :
         io::prune_checkpoints(directory_ + "/checkpoints", simulation_.state.step, std::numeric_limits<int>::max())) {
      log_->line("warning: " + warning);
    }
  });
}

void Run::start_afresh() {
  const io::InitialSpec& initial = simulation_.settings.initial;
  if (initial.kind == io::InitialKind::fields) {
    set_from_fields(simulation_, initial.file);
  } else if (initial.kind == io::InitialKind::checkpoint) {
    set_from_checkpoint(simulation_, initial.file);
  } else {
    simulation_.initialise();
  }
  started_from_ = "initial field";
}

bool Run::at_end() const {
  const io::TimeSpec& time = simulation_.settings.time;
  return (time.end && simulation_.state.time >= *time.end) || (time.steps && simulation_.state.step >= *time.steps);
}

void Run::step() {
  const double start = wall_seconds();
  const double before = simulation_.state.time;
  simulation_.advance();
  const double stepped = wall_seconds();
  times_.stepping += stepped - start;
  ++times_.steps;
  if (!warned_of_dt_ && simulation_.settings.time.dt && simulation_.dt > simulation_.dt_limit) {
    warned_of_dt_ = true;
    log_->line(fmt::format("warning: the fixed dt {:g} is above the stable limit {:g} at step {}", simulation_.dt,
                           simulation_.dt_limit, simulation_.state.step));
  }
  output_->after_step(before);
  if (simulation_.state.step % simulation_.settings.output.log_every == 0 || times_.steps == 1) log_progress();
  const auto& every = simulation_.settings.output.checkpoint_every;
  if (every && Schedule{*every}.passed(before, simulation_.state.time)) write_checkpoint_now();
  times_.output += wall_seconds() - stepped;
}

void Run::log_progress() {
  const double points = static_cast<double>(simulation_.grid.points());
  const double per_step = times_.stepping / static_cast<double>(times_.steps);
  std::string left;
  const io::TimeSpec& time = simulation_.settings.time;
  const double steps_left = time.steps ? static_cast<double>(*time.steps - simulation_.state.step)
                                       : (*time.end - simulation_.state.time) / simulation_.dt;
  if (times_.steps > 1) left = fmt::format("  {:.0f} s left", std::max(0.0, steps_left) * per_step);
  log_->line(fmt::format("step {:7d}  time {:9.4f}  dt {:.3e}  {}  {:.1f} ns/point{}", simulation_.state.step,
                         simulation_.state.time, simulation_.dt, output_->progress(), per_step / points * 1e9, left));
}

void Run::write_checkpoint_now() {
  if (checkpointed_step_ == simulation_.state.step) return;
  output_->progress();  // refuses to save a flow that is not finite
  output_->sync();
  const double start = wall_seconds();
  for (const std::string& warning : write_checkpoint(simulation_, statistics_ ? &*statistics_ : nullptr, directory_,
                                                     simulation_.settings.output.checkpoint_keep)) {
    log_->line("warning: " + warning);
  }
  checkpointed_step_ = simulation_.state.step;
  times_.checkpoint = wall_seconds() - start;
  log_->line(fmt::format("Checkpoint at step {}, time {:g} ({:.2f} s)", simulation_.state.step, simulation_.state.time,
                         times_.checkpoint));
}

/// Before the first checkpoint has been timed: that of a slow disk, and what opening and synchronising files takes.
double Run::likely_checkpoint_seconds() const {
  constexpr double bytes_per_second = 2e8;
  constexpr double latency = 0.2;
  return latency + 4.0 * sizeof(real) * static_cast<double>(simulation_.grid.points()) / bytes_per_second;
}

void Run::loop() {
  std::string why = "the end was reached";
  while (!at_end()) {
    step();
    if (at_end()) break;
    control_.expect(times_.stepping / static_cast<double>(times_.steps),
                    times_.checkpoint > 0 ? times_.checkpoint : likely_checkpoint_seconds());
    const Requests requests = control_.poll();
    if (requests.checkpoint) write_checkpoint_now();
    if (requests.stop == StopReason::none) continue;
    why = requests.stop == StopReason::signal      ? "a signal asked for it"
          : requests.stop == StopReason::stop_file ? "a file named STOP asked for it"
                                                   : "the walltime is used up";
    break;
  }
  close(why);
}

void Run::close(const std::string& why) {
  output_->finish();
  write_checkpoint_now();
  const double work = static_cast<double>(times_.steps) * static_cast<double>(simulation_.grid.points());
  log_->line(fmt::format("Stopped at step {}, time {:g}: {}. {} steps in {:.1f} s{}", simulation_.state.step,
                         simulation_.state.time, why, times_.steps, times_.stepping,
                         work > 0 ? fmt::format(", {:.2f} ns per point per step", times_.stepping / work * 1e9) : ""));
  record(why);
}

void Run::record(const std::string& why) {
  times_.memory = static_cast<double>(device::peak_bytes());
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &times_.memory, 1, MPI_DOUBLE, MPI_SUM, comm()), "MPI_Allreduce of the memory");
  run_on_root(comm(), [&] {
    const std::string file = directory_ + "/run.json";
    std::ifstream stream(file);
    std::ostringstream previous;
    previous << stream.rdbuf();
    io::write_atomically(file, run_record(previous.str(), simulation_, tuning_, simulation_.stepper.timers(), times_,
                                          why, started_from_));
  });
}

/// As record, where another error is on its way, which matters more than one in run.json.
void Run::try_to_record(const std::string& why) {
  try {
    record(why);
  } catch (const Error&) {
  }
}

void Run::go() {
  begin();
  try {
    loop();
  } catch (const Error& error) {
    // What ends a run in the numerics or in its files is known to all ranks; the newest checkpoint is from before it.
    if (error.code() == ExitCode::numerics || error.code() == ExitCode::io) try_to_record(error.what());
    throw;
  }
}

/// The layout that the checkpoint to restart from was made with. Which one that is, and whether it is intact, is
/// decided later: here an answer only saves measuring.
std::optional<Layout> stored_layout(const RunOptions& options, const io::Case& settings) {
  if (options.restart.empty()) return std::nullopt;
  std::string file = options.restart;
  if (file == "auto") {
    const auto checkpoints = io::list_checkpoints(settings.output.directory + "/checkpoints");
    file = checkpoints.empty() ? "" : checkpoints.back().path;
  }
  broadcast(file, MPI_COMM_WORLD);
  if (file.empty()) return std::nullopt;
  try {
    return read_layout(file, MPI_COMM_WORLD);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// --reproducible: the same bits on every process grid. A CPU build keeps that promise always; with several GPUs it
/// cannot be made, because the FFT libraries choose their kernels by how many rows a rank owns, and ranks join their z
/// blocks.
void require_reproducible() {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (!device::is_gpu() || ranks == 1) return;
  throw Error(ExitCode::usage,
              "--reproducible: on several GPUs the last bits depend on the process grid, because the FFT libraries "
              "choose their kernels by how many rows a rank owns, and ranks join their z blocks; use "
              "one GPU or a CPU build, or leave the option away");
}

}  // namespace

ExitCode command_run(const RunOptions& options) {
  const double start = wall_seconds();
  const CaseInput input = read_case(with_run_options(options), MPI_COMM_WORLD);
  select_device(MPI_COMM_WORLD);
  if (options.reproducible) require_reproducible();
  prepare_directory(options, input.settings);
  const Grid grid = make_grid(input.settings, input.stretching_text);
  Tuning tuning = tune(input.settings, grid, flow_parameters(input.settings), stored_layout(options, input.settings),
                       MPI_COMM_WORLD);
  require_memory(grid, flow_parameters(input.settings),
                 Decomposition(input.settings.cells, tuning.chosen.processes, input.settings.z_blocks),
                 tuning.chosen.exchange, MPI_COMM_WORLD);
  Run(options, input.settings, grid, std::move(tuning), start).go();
  return ExitCode::success;
}

}  // namespace sluice
