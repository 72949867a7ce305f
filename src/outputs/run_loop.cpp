#include "src/outputs/run_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <utility>

#include "core/device/memory.hpp"
#include "core/device/select.hpp"
#include "core/device/timers.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "io/case/case_file.hpp"
#include "io/files/checkpoint_directory.hpp"
#include "io/files/posix_file.hpp"
#include "solver/extreme.hpp"
#include "src/outputs/checkpoint.hpp"
#include "src/outputs/checkpoint_program.hpp"
#include "src/outputs/output_needs.hpp"
#include "src/run/formula_check.hpp"
#include "src/run/memory_estimate.hpp"
#include "src/run/piece_report.hpp"
#include "src/run/program_settings.hpp"
#include "src/run/time_step_estimate.hpp"

namespace sluice {

namespace {

/// " in cell (3, 0, 17), x = 0.4, y = 0.1, z = 1.2: u = 7e+05, v = ..., p = ..."
std::string place_text(Simulation& simulation, const Extreme& extreme) {
  const auto [i, j, k] = extreme.cell;
  const Grid& grid = simulation.grid;
  std::string text = fmt::format(" in cell ({}, {}, {}), x = {:.6g}, y = {:.6g}, z = {:.6g}:", i, j, k,
                                 (static_cast<double>(i) + 0.5) * grid.dx(), (static_cast<double>(j) + 0.5) * grid.dy(),
                                 grid.z_center(k));
  const std::vector<double> values = values_in(simulation.state(), extreme.cell, simulation.comm.world());
  const auto fields = simulation.state().fields();
  for (std::size_t n = 0; n < values.size(); ++n)
    text += fmt::format("{} {} = {:.9g}", n > 0 ? "," : "", fields[n].descriptor.name, values[n]);
  return text;
}

/// Where each field is not finite; if all are finite, where the rates are largest.
std::string places(Simulation& simulation) {
  const MPI_Comm comm = simulation.comm.world();
  const State& state = simulation.state();
  std::string text;
  for (const auto& [descriptor, field] : state.fields()) {
    const Extreme extreme = extreme_of(field, comm);
    if (extreme.not_finite == 0) continue;
    text += fmt::format("\n  {} is not finite in {} of {} cells, first{}", descriptor.name, extreme.not_finite,
                        simulation.grid.points(), place_text(simulation, extreme));
  }
  if (!text.empty()) return text;
  const Metrics& metrics = simulation.stepper.metrics();
  const Extreme rate = extreme_rate(state.velocity, metrics, simulation.flow.order, comm);
  const Extreme divergence = extreme_divergence(state.velocity, metrics, simulation.flow.order, comm);
  const char* const formula =
      largest_wavenumber(simulation.flow.order) > 1 ? "7/6 (|u|/dx + |v|/dy) + |w|/dz" : "|u|/dx + |v|/dy + |w|/dz";
  text += fmt::format("\n  {} is largest, {:.6g},{}", formula, rate.value, place_text(simulation, rate));
  text += fmt::format("\n  |div u| is largest, {:.6g},{}", divergence.value, place_text(simulation, divergence));
  return text + "\n  (cells counted from 0; a face value belongs to the cell below it)";
}

std::string places_or_error(Simulation& simulation) {
  try {
    return places(simulation);
  } catch (const Error& error) {
    return std::string("\n  The place is not known: ") + error.what();
  }
}

}  // namespace

std::string describe_failure(Simulation& simulation, const std::string& folder, const std::string& why) {
  const std::string text = places_or_error(simulation);
  try {
    return text + "\n  The fields as they are, for inspection: " + write_failed_state(simulation, folder, why);
  } catch (const Error& error) {
    return text + "\n  The fields could not be written for inspection: " + error.what();
  }
}

namespace {

/// The layout that wrote the checkpoint to restart from. A later step decides which checkpoint that is and whether it
/// is intact; a result here only saves measurements.
std::optional<Layout> stored_layout(const StartOptions& options, const std::string& directory, MPI_Comm comm) {
  if (!options.directory || options.directory->restart.empty()) return std::nullopt;
  std::string file = options.directory->restart;
  run_on_root(comm, [&] {
    if (file != "auto") return;
    const std::string folder = directory + "/checkpoints";
    const std::vector<std::int64_t> steps = io::list_checkpoints(folder);
    file = steps.empty() ? "" : io::checkpoint_path(folder, steps.back());
  });
  broadcast(file, comm);
  if (file.empty()) return std::nullopt;
  try {
    return read_layout(file, comm);
  } catch (const Error&) {
    return std::nullopt;  // the restart itself reports a checkpoint that cannot be read
  }
}

/// That of the mean wall stress in the diagnostics; 0 if there is none.
double friction_velocity(const FlowParameters& flow, const Diagnostics* diagnostics) {
  if (diagnostics == nullptr) return 0;
  const double walls = (flow.bottom.drags() ? 1 : 0) + (flow.top.drags() ? 1 : 0);
  const double stress = (flow.bottom.drags() ? std::abs(diagnostics->stress_bottom) : 0) +
                        (flow.top.drags() ? std::abs(diagnostics->stress_top) : 0);
  return walls > 0 ? std::sqrt(stress / walls) : 0;
}

/// --reproducible: same bits on every process grid. A CPU build always guarantees this. Several GPUs cannot: the FFT
/// libraries choose their kernels by the number of rows on a rank, and ranks condense their z blocks.
void require_reproducible(MPI_Comm comm) {
  if (!device::is_gpu() || size_of(comm) == 1) return;
  throw Error(ExitCode::usage,
              "--reproducible: on several GPUs the last bits depend on the process grid, because the FFT libraries "
              "choose their kernels by how many rows a rank owns, and because each rank condenses its z blocks; use "
              "one GPU or a CPU build, or leave out the option");
}

}  // namespace

double largest_output(const io::Case& settings, const Grid& grid) {
  return std::max(checkpoint_bytes(grid, settings.flow), outputs_need(settings, grid, {}).size);
}

double output_memory(const io::Case& settings, const Grid& grid, const Box3& box, int ranks, bool embedded) {
  const double beside_steps = device::is_gpu() ? 0 : memory_beside_steps(settings, grid, ranks, embedded);
  return outputs_need(settings, grid, box).own_memory + beside_steps;
}

RunLoop::Files::Files(RunLoop& run)
    : observers(*run.simulation_, *run.log_, run.times_, run.accuracy_, *run.guard_.watchdog, run.directory_,
                run.options_.embedded),
      progress_line(*run.log_),
      control(run.comm_, run.directory_, run.settings_.walltime, run.options_.wall_seconds),
      energy(run.comm_) {
  constexpr double runs_per_look = 8;  // the files of many runs are looked for more rarely
  if (run.options_.shared != nullptr)
    control.look_every(look_interval * std::max(1.0, run.options_.shared->runs / runs_per_look));
}

RunLoop::RunLoop(const CaseInput& input, const StartOptions& options, RunGuard& guard, MPI_Comm comm)
    : settings_(input.settings),
      options_(options),
      guard_(guard),
      comm_(comm),
      directory_(input.settings.output.directory) {
  times_.start = options.wall_seconds;
  const Grid grid = make_grid(settings_, input.stretching_text);
  if (!options_.directory || options_.directory->restart.empty()) {
    // Before anything in the output directory is changed; begin() tries them at the time at which a restart goes on.
    run_on_root(comm_, [&] { require_startable(check_formulas(settings_, grid, 0, 0)); });
  }
  if (options_.directory) {
    const std::optional<double> limit =
        options_.embedded ? std::numeric_limits<double>::infinity() : settings_.watchdog;
    guard_.watchdog =
        options_.shared != nullptr
            ? options_.shared->watchdog
            : std::make_shared<Watchdog>(comm_, limit, largest_output(settings_, grid), directory_ + "/log.txt");
  }
  if (options_.shared == nullptr) device::select(comm_);
  if (options_.reproducible) require_reproducible(comm_);
  if (options_.directory) open_files();
  for (const auto& [axis, forcing] :
       {std::pair("x", settings_.flow.forcing), std::pair("y", settings_.flow.spanwise_forcing)}) {
    const std::string of_table = table_warning(axis, forcing, settings_.time.end.value_or(0));
    if (!of_table.empty()) warn(of_table);
  }
  watch(Watchdog::Task::start, "measurement of layouts");
  tuning_ = tune(settings_, grid, settings_.flow, stored_layout(options_, directory_, comm_), comm_);
  const Decomposition decomposition(settings_.cells, tuning_.chosen.processes, settings_.z_blocks);
  const Box3 own = decomposition.x_pencil(rank_of(comm_));
  const double of_outputs =
      options_.directory ? output_memory(settings_, grid, own, size_of(comm_), options_.embedded) : 0;
  require_memory(settings_.flow, decomposition, tuning_.chosen.exchange, comm_, of_outputs);
  watch(Watchdog::Task::start, "start of the run");
  simulation_.emplace(settings_, grid, tuning_.chosen, comm_);
  if (options_.directory) files_.emplace(*this);
}

/// The log begins with what the directory gives cause to.
void RunLoop::open_files() {
  const std::vector<std::string> warnings = prepare_directory(*options_.directory, settings_, guard_.lock, comm_);
  const bool silent = options_.embedded || options_.shared != nullptr;
  log_.emplace(directory_ + "/log.txt", comm_, silent ? RunLog::Echo::off : RunLog::Echo::on);
  for (const std::string& warning : warnings) warn(warning);
}

void RunLoop::load() {
  if (files_) {
    load_with_files();
    return;
  }
  try_formulas();
  start_from_initial(*simulation_);
}

void RunLoop::load_with_files() {
  const ProcessGrid& processes = simulation_->comm.processes();
  const auto& cells = simulation_->grid.cells();
  say(fmt::format("Sluice: {}", settings_.title));
  say(fmt::format("{} x {} x {} cells on {} process(es) as {} x {} (y x z), {}, {} precision, {}", cells[0], cells[1],
                  cells[2], processes.size(), processes.py, processes.pz, simulation_->exchanges.methods().text(),
                  precision_name, device::description()));
  for (const std::string& line : table_lines(tuning_)) say(line);

  const DirectoryOptions& options = *options_.directory;
  const std::string checkpoint = find_checkpoint();
  watch(Watchdog::Task::start, checkpoint.empty() ? "start from the initial field" : "restart");
  if (checkpoint.empty()) {
    try_formulas();
    start_from_initial(*simulation_);
  } else {
    changes_ = read_checkpoint(*simulation_, files_->observers, checkpoint, options.allow_change);
    say(fmt::format("Restarted from {}: step {}, time {:g}", checkpoint, simulation_->step(), simulation_->time()));
    go_on_with_program(checkpoint);
    try_formulas();
  }
  from_checkpoint_ = !checkpoint.empty();
  started_from_ = from_checkpoint_ ? checkpoint : "initial field";
  const bool chosen = !checkpoint.empty() && options.restart != "auto";
  start_ = Start{simulation_->step(), checkpoint, chosen, !chosen || io::is_inside(checkpoint, directory_),
                 options.allow_change};
  std::ranges::move(files_->observers.check_files(*start_), std::back_inserter(changes_));
  for (const std::string& change : changes_) say("changed on restart: " + change);
}

void RunLoop::begin() {
  if (!files_) return;
  files_->observers.go_back(*start_);
  run_on_root(comm_, [&] { io::write_atomically(directory_ + "/resolved.yaml", io::resolved_yaml(settings_)); });
}

void RunLoop::go_on_with_program(const std::string& checkpoint) {
  const std::string settings = text_of_program_settings(*simulation_);
  if (!settings.empty()) say("Kept as a Python program has set them: " + settings);
  if (options_.embedded) return;
  const std::string missing = missing_code(*simulation_);
  if (!missing.empty() && !options_.directory->allow_change) {
    throw Error(ExitCode::restart,
                fmt::format("{}: code of a Python program acted on this flow ({}), and checkpoints do not hold code; "
                            "go on from that program (restart=\"auto\"), or say --allow-change to go on without it",
                            checkpoint, missing));
  }
  if (!missing.empty()) changes_.push_back("without the code of a program: " + missing);
  simulation_->code_of_checkpoint = {};
  simulation_->stepper.accept_prescribed_walls();
  try_next_walls(checkpoint);
}

/// Refuses or drops velocities of walls that the first step would take over if they do not balance.
void RunLoop::try_next_walls(const std::string& checkpoint) {
  if (!simulation_->next_walls) return;
  const auto next = simulation_->next_walls;
  const ProgramSettings present = program_settings(*simulation_);
  try {
    take_next_walls(*simulation_);
    simulation_->next_walls = next;
  } catch (const Error& error) {
    if (!options_.directory->allow_change)
      throw Error(ExitCode::restart, fmt::format("{}: {}; set them in the Python program (restart=\"auto\"), or say "
                                                 "--allow-change to go on without what was set last",
                                                 checkpoint, error.what()));
    changes_.push_back(fmt::format("without the velocities of walls that a program set last: {}", error.what()));
  }
  restore(*simulation_, present);
}

void RunLoop::warn_of_missing_code() {
  const std::string missing = missing_code(*simulation_);
  simulation_->code_of_checkpoint = {};
  if (missing.empty()) return;
  warn(
      fmt::format("code that acted on the flow when the checkpoint was written is missing ({}): the run goes on "
                  "without it; add it between the restart and the first step",
                  missing));
}

void RunLoop::try_formulas() {
  run_on_root(comm_, [&] {
    const Grid& grid = simulation_->grid;
    const FormulaFindings found = check_formulas(settings_, grid, simulation_->time(), expected_end(settings_, grid));
    require_startable(found);
    for (const auto& list : {found.failures, found.warnings})
      for (const std::string& text : list) warn(text);
  });
}

std::string RunLoop::find_checkpoint() {
  const std::string& restart = options_.directory->restart;
  if (restart != "auto") return restart;
  const io::NewestIntact newest = io::newest_intact(comm_, directory_ + "/checkpoints");
  for (const std::string& warning : newest.warnings) warn(warning);
  if (!newest.path.empty() || newest.warnings.empty()) return newest.path;
  throw Error(ExitCode::restart, fmt::format("{}: there are checkpoints, but none of them can be read, and starting "
                                             "afresh would remove them; mend or move them, or say --overwrite",
                                             directory_ + "/checkpoints"));
}

void RunLoop::run() {
  while (!at_end() && attend() == StopReason::none) step();
  finish();
}

StopReason RunLoop::attend() {
  if (files_) recorded([this] { serve_requests(); });
  return stop_;
}

void RunLoop::step() {
  recorded([this] {
    if (files_ && !attended_) serve_requests();
    step_and_observe();
  });
}

void RunLoop::finish(StopReason reason) {
  if (files_) recorded([&] { write_last(reason); });
}

void RunLoop::recorded(const std::function<void()>& action) {
  if (ended_)
    throw Error(ExitCode::usage,
                fmt::format("{}: the run has ended; start again to go on from its newest checkpoint", directory_));
  try {
    action();
  } catch (const Error& error) {
    if (!files_) throw;
    ended_ = true;
    // All ranks have an error of these kinds; the newest checkpoint is older than it.
    if (error.code() == ExitCode::numerics) {
      watch(Watchdog::Task::output, "diagnostics of the failure");
      const std::string places = describe_failure(*simulation_, directory_ + "/diagnostics", error.what());
      say(fmt::format("Failed after step {}, time {:g}: {}", simulation_->step(), simulation_->time(),
                      error.what() + places));
      try_to_record(error.what());
      throw Error(error.code(), error.what() + places);
    }
    if (error.code() == ExitCode::io) try_to_record(error.what());
    throw;
  }
}

void RunLoop::serve_requests() {
  const std::int64_t next = simulation_->step() + 1;
  watch(Watchdog::Task::step, "step", next);
  const double runs = options_.shared != nullptr ? options_.shared->running : 1;  // which will stop one by one
  files_->control.expect(runs * (times_.steps > 0 ? times_.stepping / static_cast<double>(times_.steps) : 0),
                         runs * (times_.checkpoint + times_.unfinished + times_.fields));
  const Requests requests = files_->control.poll(accuracy_ && accuracy_->reached, line_due());
  if (requests.checkpoint) {
    files_->observers.observe(moment(Occasion::request));
    changed_ = false;
    watch(Watchdog::Task::step, "step", next);
  }
  if (requests.stop != StopReason::none) stop_ = requests.stop;
  line_asked_ = line_asked_ || requests.line;
  attended_ = true;
}

bool RunLoop::line_due() const {
  const std::optional<double>& interval = settings_.output.log_seconds;
  return interval && wall_seconds() >= times_.logged + *interval;
}

Moment RunLoop::moment(Occasion occasion, std::optional<double> previous_time) const {
  const double time = simulation_->time();
  return {occasion, simulation_->step(), time, previous_time.value_or(time), times_.steps == 1, false, changed_};
}

void RunLoop::flow_changed() {
  changed_ = true;
  if (files_) files_->observers.flow_changed();
}

void RunLoop::step_and_observe() {
  const double start = wall_seconds();
  const double previous_time = simulation_->time();
  attended_ = false;
  changed_ = false;
  warn_of_missing_code();
  if (!options_.embedded) take_next_walls(*simulation_);
  if (files_ && times_.steps == 0) {
    files_->energy.start();
    files_->first_time = previous_time;
  }
  simulation_->take_step();  // whoever sets responses of walls asks for their errors
  ++times_.steps;
  if (!files_) {
    warn_of_dt();
    return;
  }
  Moment now = moment(Occasion::step, previous_time);
  now.line_due = std::exchange(line_asked_, false);
  // A GPU may still be at work on the step. An output would wait for it, and its time would count as the output's.
  if (files_->observers.due(now) || at_end()) device::synchronize();
  const double stepped = wall_seconds();
  times_.stepping += stepped - start;
  warn_of_dt();
  files_->observers.observe(now);
  files_->progress_line.update(*simulation_, times_, accuracy_, files_->observers.flow().latest_diagnostics());
  times_.output += wall_seconds() - stepped;
  files_->energy.update();
}

void RunLoop::warn_of_dt() {
  // With implicit diffusion in all directions the limit is one of accuracy, too.
  const bool is_stable = simulation_->dt <= simulation_->dt_limit || settings_.flow.diffusion == Diffusion::implicit;
  if (warned_of_dt_ || !settings_.time.dt || is_stable) return;
  warned_of_dt_ = true;
  warn(fmt::format("the fixed dt {:g} is above the stable limit {:g} at step {}", simulation_->dt,
                   simulation_->dt_limit, simulation_->step()));
}

void RunLoop::write_last(StopReason reason) {
  const std::string why = text_of(at_end() ? StopReason::none : stop_ != StopReason::none ? stop_ : reason);
  files_->observers.observe(moment(Occasion::end));
  files_->observers.finish();
  watch(Watchdog::Task::output, "end of the run");
  device::synchronize();
  measure_energy();
  const double work = static_cast<double>(times_.steps) * static_cast<double>(simulation_->grid.points());
  for (const std::string& line : piece_lines(simulation_->exchanges.set().piece_tuning())) say(line);
  say(fmt::format(
      "Stopped at step {}, time {:g}: {}. {} steps in {:.1f} s{}", simulation_->step(), simulation_->time(), why,
      times_.steps, times_.stepping,
      work > 0 ? ", " + readable_nanoseconds(times_.stepping / work * 1e9) + " ns per point per step" : ""));
  if (device::is_gpu() || times_.energy.fault.empty()) say(energy_text(times_.energy, times_.energy_use));
  record(why);
  ended_ = true;
}

void RunLoop::try_to_record(const std::string& why) {
  try {
    measure_energy();
    record(why);
  } catch (const Error&) {  // report the first error
  }
}

void RunLoop::measure_energy() {
  times_.energy = files_->energy.energy();
  if (times_.steps == 0) times_.energy.fault = "no step was taken";
  if (options_.shared != nullptr) times_.energy.fault = "the members of an ensemble share the device";
  const auto steps = static_cast<double>(times_.steps);
  times_.energy_use = {steps * static_cast<double>(simulation_->grid.points()),
                       simulation_->time() - files_->first_time,
                       friction_velocity(simulation_->flow, files_->observers.flow().latest_diagnostics())};
}

void RunLoop::record(const std::string& why) {
  times_.memory = static_cast<double>(device::peak_bytes()) / (options_.shared != nullptr ? options_.shared->runs : 1);
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &times_.memory, 1, MPI_DOUBLE, MPI_SUM, comm_), "MPI_Allreduce of the memory");
  run_on_root(comm_, [&] {
    const std::string file = directory_ + "/run.json";
    const std::string previous = std::filesystem::exists(file) ? io::read_text(file) : "";
    const RunEnds ends{started_from_, changes_, accuracy_, why};
    io::write_atomically(file, run_record(previous, *simulation_, tuning_, times_, ends));
  });
}

void RunLoop::say(const std::string& line) {
  if (log_) log_->line(line);
}

void RunLoop::warn(const std::string& text) {
  say("warning: " + text);
  if (rank_of(comm_) == 0) warnings_.push_back(text);
}

void RunLoop::watch(Watchdog::Task kind, const std::string& what, std::int64_t step) {
  if (options_.directory) guard_.watchdog->begin(kind, what, step);
}

}  // namespace sluice
