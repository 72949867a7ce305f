#include "src/commands/run_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "core/device/memory.hpp"
#include "core/device/timers.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "io/case/case_file.hpp"
#include "io/files/checkpoint_directory.hpp"
#include "io/files/posix_file.hpp"
#include "solver/extreme.hpp"
#include "src/outputs/checkpoint.hpp"
#include "src/run/formula_check.hpp"
#include "src/run/piece_report.hpp"
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

RunLoop::RunLoop(const io::Case& settings, const Grid& grid, Tuning tuning, RunLog& log, Watchdog& watchdog,
                 double start)
    : directory_(settings.output.directory),
      tuning_(std::move(tuning)),
      simulation_(settings, grid, tuning_.chosen, MPI_COMM_WORLD),
      log_(log),
      watchdog_(watchdog),
      observers_(simulation_, log_, times_, accuracy_, watchdog_, directory_),
      progress_line_(log_),
      control_(comm(), directory_, settings.walltime, start) {
  times_.start = start;
}

void RunLoop::begin(const std::string& restart, bool allow_change) {
  const ProcessGrid& processes = simulation_.comm.processes();
  const auto& cells = simulation_.grid.cells();
  log_.line(fmt::format("Sluice: {}", simulation_.settings.title));
  log_.line(fmt::format("{} x {} x {} cells on {} process(es) as {} x {} (y x z), {}, {} precision, {}", cells[0],
                        cells[1], cells[2], processes.size(), processes.py, processes.pz,
                        simulation_.exchanges.methods().text(), precision_name, device::description()));
  for (const std::string& line : table_lines(tuning_)) log_.line(line);

  const std::string checkpoint = find_checkpoint(restart);
  watchdog_.begin(Watchdog::Task::start, checkpoint.empty() ? "start from the initial field" : "restart");
  if (checkpoint.empty()) {
    try_formulas();
    start_from_initial(simulation_);
  } else {
    changes_ = read_checkpoint(simulation_, observers_, checkpoint, allow_change);
    log_.line(fmt::format("Restarted from {}: step {}, time {:g}", checkpoint, simulation_.step(), simulation_.time()));
    try_formulas();
  }
  started_from_ = checkpoint.empty() ? "initial field" : checkpoint;
  const bool chosen = !checkpoint.empty() && restart != "auto";
  const Start start{simulation_.step(), checkpoint, chosen, !chosen || io::is_inside(checkpoint, directory_),
                    allow_change};
  std::ranges::move(observers_.check_files(start), std::back_inserter(changes_));
  for (const std::string& change : changes_) log_.line("changed on restart: " + change);
  observers_.go_back(start);
  run_on_root(comm(),
              [&] { io::write_atomically(directory_ + "/resolved.yaml", io::resolved_yaml(simulation_.settings)); });
}

void RunLoop::try_formulas() {
  const io::Case& settings = simulation_.settings;
  run_on_root(comm(), [&] {
    const FormulaFindings found =
        check_formulas(settings, simulation_.grid, simulation_.time(), expected_end(settings, simulation_.grid));
    require_startable(found);
    for (const auto& list : {found.failures, found.warnings})
      for (const std::string& text : list) log_.line("warning: " + text);
  });
}

std::string RunLoop::find_checkpoint(const std::string& restart) {
  if (restart != "auto") return restart;
  const io::NewestIntact newest = io::newest_intact(comm(), directory_ + "/checkpoints");
  for (const std::string& warning : newest.warnings) log_.line("warning: " + warning);
  if (!newest.path.empty() || newest.warnings.empty()) return newest.path;
  throw Error(ExitCode::restart, fmt::format("{}: there are checkpoints, but none of them can be read, and starting "
                                             "afresh would remove them; mend or move them, or say --overwrite",
                                             directory_ + "/checkpoints"));
}

void RunLoop::run() {
  try {
    stop(step_until_stopped());
  } catch (const Error& error) {
    // All ranks have an error of these kinds; the newest checkpoint is older than it.
    if (error.code() == ExitCode::numerics) {
      watchdog_.begin(Watchdog::Task::output, "diagnostics of the failure");
      const std::string places = describe_failure(simulation_, directory_ + "/diagnostics", error.what());
      log_.line(fmt::format("Failed after step {}, time {:g}: {}", simulation_.step(), simulation_.time(),
                            error.what() + places));
      try_to_record(error.what());
      throw Error(error.code(), error.what() + places);
    }
    if (error.code() == ExitCode::io) try_to_record(error.what());
    throw;
  }
}

std::string RunLoop::step_until_stopped() {
  while (!simulation_.at_end()) {
    watchdog_.begin(Watchdog::Task::step, "step", simulation_.step() + 1);
    control_.expect(times_.steps > 0 ? times_.stepping / static_cast<double>(times_.steps) : 0,
                    times_.checkpoint + times_.fields);
    const Requests requests = control_.poll(accuracy_ && accuracy_->reached, line_due());
    if (requests.checkpoint) {
      observers_.observe(moment(Occasion::request));
      watchdog_.begin(Watchdog::Task::step, "step", simulation_.step() + 1);
    }
    if (requests.stop != StopReason::none) return text_of(requests.stop);
    step(requests.line);
  }
  return text_of(StopReason::none);
}

bool RunLoop::line_due() const {
  const std::optional<double>& interval = simulation_.settings.output.log_seconds;
  return interval && wall_seconds() >= times_.logged + *interval;
}

Moment RunLoop::moment(Occasion occasion) const {
  const double time = simulation_.time();
  return {occasion, simulation_.step(), time, time, times_.steps == 1, false};
}

void RunLoop::step(bool line_due) {
  const double start = wall_seconds();
  const double previous_time = simulation_.time();
  simulation_.advance();
  ++times_.steps;
  Moment now = moment(Occasion::step);
  now.previous_time = previous_time;
  now.line_due = line_due;
  // A GPU may still be at work on the step. An output would wait for it, and its time would count as the output's.
  if (observers_.due(now) || simulation_.at_end()) device::synchronize();
  const double stepped = wall_seconds();
  times_.stepping += stepped - start;
  if (!warned_of_dt_ && simulation_.settings.time.dt && simulation_.dt > simulation_.dt_limit) {
    warned_of_dt_ = true;
    log_.line(fmt::format("warning: the fixed dt {:g} is above the stable limit {:g} at step {}", simulation_.dt,
                          simulation_.dt_limit, simulation_.step()));
  }
  observers_.observe(now);
  progress_line_.update(simulation_, times_, accuracy_, observers_.flow().latest_diagnostics());
  times_.output += wall_seconds() - stepped;
}

void RunLoop::stop(const std::string& why) {
  observers_.observe(moment(Occasion::end));
  observers_.finish();
  watchdog_.begin(Watchdog::Task::output, "end of the run");
  const double work = static_cast<double>(times_.steps) * static_cast<double>(simulation_.grid.points());
  for (const std::string& line : piece_lines(simulation_.exchanges.set().piece_tuning())) log_.line(line);
  log_.line(fmt::format(
      "Stopped at step {}, time {:g}: {}. {} steps in {:.1f} s{}", simulation_.step(), simulation_.time(), why,
      times_.steps, times_.stepping,
      work > 0 ? ", " + readable_nanoseconds(times_.stepping / work * 1e9) + " ns per point per step" : ""));
  record(why);
}

void RunLoop::try_to_record(const std::string& why) {
  try {
    record(why);
  } catch (const Error&) {  // report the first error
  }
}

void RunLoop::record(const std::string& why) {
  times_.memory = static_cast<double>(device::peak_bytes());
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &times_.memory, 1, MPI_DOUBLE, MPI_SUM, comm()), "MPI_Allreduce of the memory");
  run_on_root(comm(), [&] {
    const std::string file = directory_ + "/run.json";
    const std::string previous = std::filesystem::exists(file) ? io::read_text(file) : "";
    const RunEnds ends{started_from_, changes_, accuracy_, why};
    io::write_atomically(file, run_record(previous, simulation_, tuning_, times_, ends));
  });
}

}  // namespace sluice
