// Checkpoints: what they hold, and when they are written: on schedule, on request and at the end. The run waits for
// those on request and at the end.
#include "src/outputs/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "core/decomp/field_copy.hpp"
#include "core/device/timers.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "io/case/case_file.hpp"
#include "io/files/checkpoint_directory.hpp"
#include "io/files/snapshot.hpp"
#include "model/schedule.hpp"
#include "src/outputs/background_checkpoint.hpp"
#include "src/outputs/checkpoint_program.hpp"
#include "src/run/provenance.hpp"

namespace sluice {

namespace {

namespace fs = std::filesystem;

using companion_names::state_group;
constexpr const char* failure_name = "failure";

io::LocalBlock block_of(const Simulation& simulation) {
  const auto& cells = simulation.grid.cells();
  return {{cells[2], cells[1], cells[0]}, simulation.box()};
}

io::Values state_values(const Simulation& simulation, double advective_rate) {
  io::Values values;
  values.set("dt", simulation.dt);
  values.set("dt_begin", simulation.equal_steps().begin);
  values.set("dt_steps", simulation.equal_steps().steps);
  values.set("dt_limit", simulation.dt_limit);
  values.set("advective_rate", advective_rate);
  values.set("forcing", simulation.forcing.x);
  if (simulation.forcing.y != 0) values.set("forcing_y", simulation.forcing.y);  // of a program, or of the case
  for (const auto& [name, value] : further_forcing(simulation.flow, simulation.forcing)) values.set(name, value);
  values.set("z_blocks", std::int64_t{simulation.settings.z_blocks});
  values.set("exchange", simulation.exchanges.methods().text());
  values.set("process_grid", std::vector<std::int64_t>{simulation.comm.processes().py, simulation.comm.processes().pz});
  return values;
}

io::CheckpointSpec spec_of(const Simulation& simulation, const std::string& folder) {
  return {folder,
          simulation.step(),
          simulation.time(),
          provenance_of(simulation),
          grid_lines_of(simulation.grid),
          io::h5::type_of<real>,
          simulation.settings.output.writer};
}

void refuse_failed_state(const io::CheckpointReader& reader) {
  const io::Values state = reader.values(state_group);
  if (!state.has(failure_name)) return;
  throw Error(ExitCode::restart,
              fmt::format("{}: this is the flow of a run that had failed ({}), not a checkpoint; restart from one in "
                          "the folder checkpoints",
                          reader.path(), state.text(failure_name)));
}

std::vector<std::string> check_case(const Simulation& simulation, const io::CheckpointReader& reader,
                                    bool allow_change) {
  const io::Case stored = case_of(reader);
  std::vector<std::string> changes = io::physical_changes(stored, simulation.settings);
  const bool single = reader.fields().type == io::h5::Type::float32;
  if (single != (sizeof(real) == sizeof(float)))
    changes.push_back(fmt::format("precision: {} -> {}", single ? "single" : "double", precision_name));
  if (changes.empty() || allow_change) return changes;
  std::string list;
  for (const std::string& change : changes) list += "\n  " + change;
  if (number_of(stored.flow.order) < number_of(simulation.settings.flow.order)) {
    list += "\nEarlier versions had order 2 unless the case asked for 4: to go on with it, set solver.order: 2";
  }
  throw Error(ExitCode::restart,
              fmt::format("{}: the case differs from the checkpoint's in what changes the flow:{}\nRestore these keys "
                          "(for the precision, solver.precision), or say --allow-change to go on with the new "
                          "ones",
                          reader.path(), list));
}

void check_grid(const Simulation& simulation, const io::CheckpointReader& reader) {
  if (reader.grid() == grid_lines_of(simulation.grid)) return;
  const io::Extents& shape = reader.fields().shape;
  throw Error(ExitCode::restart,
              fmt::format("{}: the checkpoint was made on another grid ({} x {} x {}, or other spacings); to "
                          "interpolate it to this one, start afresh with initial: {{type: checkpoint, file: {}}}",
                          reader.path(), shape[2], shape[1], shape[0], reader.path()));
}

/// A number of the state.
double finite(const io::Values& state, const std::string& name, const io::CheckpointReader& reader) {
  const double value = state.real(name);
  if (!std::isfinite(value)) {
    throw Error(ExitCode::restart, fmt::format("{}: the attribute {} of {} is damaged: it is {}", reader.path(), name,
                                               state_group, value));
  }
  return value;
}

/// The advective rate for the next step; older checkpoints have none.
std::optional<double> stored_rate(const io::Values& state, const io::CheckpointReader& reader) {
  constexpr const char* name = "advective_rate";
  if (!state.has(name)) return std::nullopt;
  const double rate = finite(state, name, reader);
  if (rate < 0) {
    throw Error(ExitCode::restart,
                fmt::format("{}: the attribute {} of {} is damaged: it is {}", reader.path(), name, state_group, rate));
  }
  return rate;
}

/// Older checkpoints do not have them: they then begin at the checkpoint.
EqualSteps stored_equal_steps(const io::Values& state, const io::CheckpointReader& reader) {
  const double dt = finite(state, "dt", reader);
  if (!state.has("dt_begin") || !state.has("dt_steps")) return {dt, reader.time(), 0};
  const EqualSteps steps{dt, finite(state, "dt_begin", reader), state.integer("dt_steps")};
  if (steps.end() == reader.time()) return steps;
  throw Error(ExitCode::restart,
              fmt::format("{}: the attributes dt, dt_begin and dt_steps of {} are damaged: {} steps of {} from time {} "
                          "do not end at time {}",
                          reader.path(), state_group, steps.steps, steps.dt, steps.begin, reader.time()));
}

/// The process grid and exchange method stored in the state.
Layout layout_of(const io::Values& state, const std::string& path) {
  const std::vector<std::int64_t>& processes = state.integers("process_grid");
  const auto is_count = [](std::int64_t n) { return n > 0 && n <= std::numeric_limits<int>::max(); };
  if (processes.size() != 2 || !std::ranges::all_of(processes, is_count)) {
    throw Error(ExitCode::restart,
                fmt::format("{}: the dataset {}/process_grid is damaged: it does not hold two numbers of processes",
                            path, state_group));
  }
  return {{static_cast<int>(processes[0]), static_cast<int>(processes[1])},
          ExchangeMethods::from_text(state.text("exchange"))};
}

}  // namespace

io::Provenance provenance_of(const Simulation& simulation) {
  return {version(), git_revision(), io::resolved_yaml(simulation.settings)};
}

io::GridLines grid_lines_of(const Grid& grid) {
  return io::grid_lines(grid.cells()[0], grid.length_x(), grid.cells()[1], grid.length_y(), grid.z_nodes());
}

double checkpoint_bytes(const Grid& grid, const FlowParameters& flow) {
  const auto fields =
      std::ranges::count_if(fields_of(flow), [](const auto& field) { return field.outputs.checkpoint; });
  return static_cast<double>(fields) * sizeof(real) * static_cast<double>(grid.points());
}

bool writes_beside_steps(const io::Case& settings, int ranks, bool embedded) {
  const io::OutputSpec& output = settings.output;
  return output.checkpoint_every && ranks == 1 && !embedded && output.catalyst.every == 0 &&
         output.writer.kind == io::WriterKind::direct;
}

double memory_beside_steps(const io::Case& settings, const Grid& grid, int ranks, bool embedded) {
  return writes_beside_steps(settings, ranks, embedded) ? checkpoint_bytes(grid, settings.flow) : 0;
}

std::vector<std::string> read_checkpoint(Simulation& simulation, Observers& observers, const std::string& path,
                                         bool allow_change) {
  const io::CheckpointReader reader(simulation.comm.world(), path);
  refuse_failed_state(reader);
  std::vector<std::string> changes = check_case(simulation, reader, allow_change);
  check_grid(simulation, reader);
  std::vector<real> values(simulation.box().volume());
  for (const auto& [descriptor, field] : simulation.state().fields()) {
    if (!descriptor.outputs.checkpoint) continue;
    reader.read_field(descriptor.name, block_of(simulation), io::h5::type_of<real>, values.data());
    upload(values, field);
  }
  simulation.state().time = reader.time();
  simulation.state().step = reader.step();
  const io::Values state = reader.values(state_group);
  simulation.state().equal_steps = stored_equal_steps(state, reader);
  simulation.dt = finite(state, "dt", reader);
  simulation.dt_limit = finite(state, "dt_limit", reader);
  // A run whose forcing the user has changed starts from a checkpoint without these.
  const auto further = [&](const char* name) { return state.has(name) ? finite(state, name, reader) : 0; };
  simulation.forcing = {finite(state, "forcing", reader), further("forcing_y"), further("power")};
  read_walls(simulation, reader);
  read_program(simulation, reader, changes);
  layout_of(state, path);  // checked, but not used: the run has its layout already
  simulation.stepper.fill_halos(simulation.state());
  // The stored rate is not that of a changed flow. A flow that is not finite gets a new one, so that its
  // first step reports the fault.
  const bool keep_rate = changes.empty() && std::isfinite(simulation.stepper.largest_rate(simulation.state()));
  simulation.restored_at(keep_rate ? stored_rate(state, reader) : std::nullopt);
  observers.restore(reader);
  return changes;
}

io::Case case_of(const io::CheckpointReader& checkpoint) {
  try {
    return io::parse_stored_case(checkpoint.resolved_case(), checkpoint.path() + " (resolved_case)");
  } catch (const Error& error) {
    throw Error(ExitCode::restart,
                checkpoint.path() + ": the case in the attribute resolved_case of / cannot be read: " + error.what());
  }
}

std::string write_failed_state(Simulation& simulation, const std::string& folder, const std::string& why) {
  io::Values values = state_values(simulation, simulation.advective_rate());
  values.set(failure_name, why);
  const CheckpointContents contents{spec_of(simulation, folder), block_of(simulation), {{state_group, values}}, 1};
  write_checkpoint(simulation.comm.world(), simulation.state(), contents);
  return io::checkpoint_path(folder, simulation.step());
}

Layout read_layout(const std::string& path, MPI_Comm comm) {
  return layout_of(io::CheckpointReader(comm, path).values(state_group), path);
}

namespace {

/// For FOLDER/step_NNNNNNN.h5, with the observers' data. Collective.
CheckpointContents contents_of(const RunContext& run) {
  const Simulation& simulation = run.simulation;
  CheckpointContents contents{
      spec_of(simulation, run.path), block_of(simulation), {}, simulation.settings.output.checkpoint_keep};
  contents.values.emplace_back(state_group, state_values(simulation, run.flow.advective_rate()));
  save_walls(simulation, contents.values);
  save_program(simulation, contents.values);
  run.observers.save(contents.values);
  return contents;
}

/// Estimate until the first checkpoint is timed: a slow disk, plus the latency of opening and synchronising files.
double estimated_seconds(const Simulation& simulation) {
  constexpr double bytes_per_second = 2e8;
  constexpr double latency = 0.2;
  return latency + checkpoint_bytes(simulation.grid, simulation.flow) / bytes_per_second;
}

class CheckpointObserver : public Observer {
 public:
  explicit CheckpointObserver(const RunContext& run) : run_(run) {
    run_.times.checkpoint = estimated_seconds(run.simulation);
    const Simulation& simulation = run.simulation;
    if (!writes_beside_steps(simulation.settings, simulation.comm.processes().size(), run.embedded)) return;
    try {
      background_.emplace(run_.flow.state());
    } catch (const Error& error) {
      run_.log.line(fmt::format("warning: the run will wait for each checkpoint: {}", error.what()));
    }
  }

  /// A restart must no longer find later checkpoints, because what other files hold of later steps is removed next.
  /// There are some if the user chose an earlier one, or if they could not be read.
  void go_back(const Start& start) override {
    std::error_code ignored;  // the user may give a relative path
    const fs::path from = fs::absolute(start.checkpoint, ignored).lexically_normal();
    if (!start.checkpoint.empty() && from.parent_path() == fs::path(run_.path)) saved_step_ = start.step;
    run_on_root(run_.simulation.comm.world(), [&] {
      if (start.chosen) {
        io::go_back_to_checkpoint(run_.path, start.step, start.checkpoint);
      } else {
        io::set_aside_later_checkpoints(run_.path, start.step);
      }
    });
  }

  /// When a checkpoint in the background ends depends on the wall clock; what follows then is a line of the log.
  bool due(const Moment& now) const override { return is_awaited(now) || is_wanted(now); }

  void observe(const Moment& now) override {
    if (is_awaited(now)) finish_background();
    if (!is_wanted(now)) return;
    run_.flow.diagnostics();  // refuses a flow that is not finite
    run_.simulation.require_next_step(run_.flow.state());
    run_.observers.sync();
    const State& state = run_.flow.state();
    saved_step_ = now.step;
    if (now.occasion == Occasion::step && background_) {
      background_->start(state, contents_of(run_));
      run_.times.unfinished = run_.times.checkpoint;
    } else {
      report(write_checkpoint(run_.simulation.comm.world(), state, contents_of(run_)));
    }
  }

  /// The run has failed: the error that ends it is reported already.
  ~CheckpointObserver() override {
    try {
      if (is_running()) finish_background();
    } catch (const std::exception& error) {
      try {
        run_.log.line(fmt::format("warning: {}", error.what()));
      } catch (const std::exception&) {  // destructors do not throw
      }
    }
  }

 private:
  bool is_wanted(const Moment& now) const {
    if (now.step == saved_step_ && !now.changed) return false;
    if (now.occasion != Occasion::step) return true;
    const auto& every = run_.simulation.settings.output.checkpoint_every;
    return every && Schedule{*every}.passed(now.previous_time, now.time);
  }

  bool is_running() const { return background_ && background_->is_running(); }

  /// Whether the run takes notice of the end of a checkpoint in the background: once it has ended, and before the next.
  bool is_awaited(const Moment& now) const {
    return is_running() && (background_->has_ended() || now.occasion != Occasion::step || is_wanted(now));
  }

  void finish_background() {
    run_.times.unfinished = 0;
    report(background_->finish());
  }

  void report(const WrittenCheckpoint& written) {
    for (const std::string& warning : written.warnings) run_.log.line("warning: " + warning);
    run_.times.checkpoint = written.seconds;
    run_.log.line(
        fmt::format("Checkpoint at step {}, time {:g} ({:.2f} s)", written.step, written.time, written.seconds));
  }

  RunContext run_;
  std::int64_t saved_step_ = -1;  ///< of the newest checkpoint, which may not be complete yet
  std::optional<BackgroundCheckpoint> background_;
};

}  // namespace

std::unique_ptr<Observer> make_checkpoints(const RunContext& run) {
  return std::make_unique<CheckpointObserver>(run);
}

}  // namespace sluice
