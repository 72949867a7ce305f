#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/device/memory.hpp"
#include "core/device/timers.hpp"
#include "core/support/collective.hpp"
#include "io/case/case_file.hpp"
#include "io/files/checkpoint_directory.hpp"
#include "src/commands/case_input.hpp"
#include "src/commands/commands.hpp"
#include "src/commands/output_directory.hpp"
#include "src/commands/run_loop.hpp"
#include "src/outputs/checkpoint.hpp"
#include "src/outputs/fields.hpp"
#include "src/outputs/probes.hpp"
#include "src/run/formula_check.hpp"
#include "src/run/memory_estimate.hpp"
#include "src/run/setup.hpp"
#include "src/run/time_step_estimate.hpp"
#include "src/run/watchdog.hpp"

namespace sluice {

namespace {

/// The command-line options that change the case, as settings of keys.
CaseOptions with_run_options(const RunOptions& options) {
  CaseOptions input = options.input;
  if (options.steps) input.settings.push_back(fmt::format("time.steps={}", *options.steps));
  if (!options.walltime.empty()) input.settings.push_back("walltime=" + io::quoted_yaml(options.walltime));
  if (!options.output.empty()) input.settings.push_back("output.directory=" + io::quoted_yaml(options.output));
  return input;
}

/// The layout that wrote the checkpoint to restart from. A later step decides which checkpoint that is and whether it
/// is intact; a result here only saves measurements.
std::optional<Layout> stored_layout(const RunOptions& options, const io::Case& settings) {
  if (options.restart.empty()) return std::nullopt;
  std::string file = options.restart;
  run_on_root(MPI_COMM_WORLD, [&] {
    if (file != "auto") return;
    const std::string folder = settings.output.directory + "/checkpoints";
    const std::vector<std::int64_t> steps = io::list_checkpoints(folder);
    file = steps.empty() ? "" : io::checkpoint_path(folder, steps.back());
  });
  broadcast(file, MPI_COMM_WORLD);
  if (file.empty()) return std::nullopt;
  try {
    return read_layout(file, MPI_COMM_WORLD);
  } catch (const Error&) {
    return std::nullopt;  // the restart itself reports a checkpoint that cannot be read
  }
}

/// The most that an output writes at once, in bytes: a checkpoint, or the files of all fields.
double largest_output(const io::Case& settings, const Grid& grid) {
  double fields = 0;
  for (const io::FieldsSpec& spec : settings.output.fields) fields += fields_need(spec, grid, settings.flow, {}).file;
  return std::max(checkpoint_bytes(grid, settings.flow), fields);
}

/// --reproducible: same bits on every process grid. A CPU build always guarantees this. Several GPUs cannot: the FFT
/// libraries choose their kernels by the number of rows on a rank, and ranks condense their z blocks.
void require_reproducible() {
  if (!device::is_gpu() || size_of(MPI_COMM_WORLD) == 1) return;
  throw Error(ExitCode::usage,
              "--reproducible: on several GPUs the last bits depend on the process grid, because the FFT libraries "
              "choose their kernels by how many rows a rank owns, and because each rank condenses its z blocks; use "
              "one GPU or a CPU build, or leave out the option");
}

/// Refuses formulas with which a run from time 0 cannot start: before anything in the output directory is changed.
void require_formulas(const RunOptions& options, const io::Case& settings, const Grid& grid) {
  if (!options.restart.empty()) return;  // RunLoop::begin tries them at the time at which the run goes on
  run_on_root(MPI_COMM_WORLD, [&] { require_startable(check_formulas(settings, grid, 0, 0)); });
}

}  // namespace

ExitCode command_run(const RunOptions& options) {
  const double start = wall_seconds();
  const CaseInput input = read_case(with_run_options(options), MPI_COMM_WORLD);
  const Grid grid = make_grid(input.settings, input.stretching_text);
  require_formulas(options, input.settings, grid);
  const std::string log_file = input.settings.output.directory + "/log.txt";
  // Static, because the end of the process, MPI_Finalize, may hang as well.
  static Watchdog watchdog(MPI_COMM_WORLD, input.settings.watchdog, largest_output(input.settings, grid), log_file);
  select_device(MPI_COMM_WORLD);
  if (options.reproducible) require_reproducible();
  const std::vector<std::string> warnings = prepare_directory(options, input.settings);
  RunLog log(log_file, MPI_COMM_WORLD);
  for (const std::string& warning : warnings) log.line("warning: " + warning);
  for (const auto& [axis, forcing] :
       {std::pair("x", input.settings.flow.forcing), std::pair("y", input.settings.flow.spanwise_forcing)}) {
    const std::string of_table = table_warning(axis, forcing, input.settings.time.end.value_or(0));
    if (!of_table.empty()) log.line("warning: " + of_table);
  }
  watchdog.begin(Watchdog::Task::start, "measurement of layouts");
  Tuning tuning =
      tune(input.settings, grid, input.settings.flow, stored_layout(options, input.settings), MPI_COMM_WORLD);
  const Decomposition decomposition(input.settings.cells, tuning.chosen.processes, input.settings.z_blocks);
  double held_samples = 0;
  for (const io::ProbeSpec& probe : input.settings.output.probes)
    held_samples +=
        probe_need(probe, grid, input.settings.flow, decomposition.x_pencil(rank_of(MPI_COMM_WORLD))).own_memory;
  double of_fields = 0;
  for (const io::FieldsSpec& fields : input.settings.output.fields)
    of_fields = std::max(
        of_fields,
        fields_need(fields, grid, input.settings.flow, decomposition.x_pencil(rank_of(MPI_COMM_WORLD))).own_memory);
  require_memory(grid, input.settings.flow, decomposition, tuning.chosen.exchange, MPI_COMM_WORLD,
                 held_samples + of_fields);
  watchdog.begin(Watchdog::Task::start, "start of the run");
  RunLoop run(input.settings, grid, std::move(tuning), log, watchdog, start);
  run.begin(options.restart, options.allow_change);
  run.run();
  return ExitCode::success;
}

}  // namespace sluice
