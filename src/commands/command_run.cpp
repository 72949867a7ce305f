#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "core/device/memory.hpp"
#include "core/device/timers.hpp"
#include "core/support/collective.hpp"
#include "io/case/case_file.hpp"
#include "io/files/checkpoint_directory.hpp"
#include "io/files/posix_file.hpp"
#include "src/commands/commands.hpp"
#include "src/commands/run_loop.hpp"
#include "src/outputs/checkpoint.hpp"
#include "src/outputs/output_needs.hpp"
#include "src/outputs/run_files.hpp"
#include "src/run/formula_check.hpp"
#include "src/run/memory_estimate.hpp"
#include "src/run/output_lock.hpp"
#include "src/run/setup.hpp"
#include "src/run/time_step_estimate.hpp"
#include "src/run/watchdog.hpp"

namespace sluice {

namespace {

namespace fs = std::filesystem;

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
  return std::max(checkpoint_bytes(grid, settings.flow), outputs_need(settings, grid, {}).size);
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

/// Refuses a directory whose results this run neither continues nor may replace.
void check_results(const RunOptions& options, const std::string& directory) {
  if (options.restart.empty() && !options.overwrite) {
    throw Error(ExitCode::usage, fmt::format("{}: the output directory holds results already; use --restart auto to "
                                             "continue that run, --overwrite to replace them, or --output for another",
                                             directory));
  }
  if (!options.restart.empty() && options.restart != "auto" && !io::is_inside(options.restart, directory)) {
    throw Error(
        ExitCode::usage,
        fmt::format(
            "{}: the output directory holds results of a run that did not write {}; choose another with --output",
            directory, options.restart));
  }
}

/// Refuses to replace files of others.
void check_files_in_the_way(const RunFiles& found) {
  if (found.in_the_way.empty()) return;
  throw Error(ExitCode::usage,
              fmt::format("{}: Sluice did not write it, but a run would replace it; move it away, or choose another "
                          "directory with --output",
                          found.in_the_way.front().string()));
}

bool is_same_file(const fs::path& one, const fs::path& other) {
  std::error_code ignored;
  return fs::equivalent(one, other, ignored);
}

/// Removes the files of earlier runs. The case file stays: it may be the resolved.yaml of an earlier run.
void overwrite(RunFiles found, const RunOptions& options, const io::Case& settings) {
  const fs::path directory(settings.output.directory);
  if (std::ranges::any_of(found.files, [&](const auto& file) { return is_same_file(file, settings.initial.file); })) {
    throw Error(ExitCode::usage,
                fmt::format("{}: --overwrite would remove initial.file, {}; choose another directory with --output",
                            directory.string(), settings.initial.file));
  }
  std::erase_if(found.files, [&](const auto& file) { return is_same_file(file, options.input.file); });
  remove_run_files(directory, found);
}

/// On rank 0.
std::vector<std::string> prepare(const RunOptions& options, const io::Case& settings) {
  const std::string& directory = settings.output.directory;
  std::vector<std::string> warnings;
  try {
    fs::create_directories(directory);
    if (std::string warning = lock_output_directory(directory); !warning.empty()) warnings.push_back(warning);
    const RunFiles found = find_run_files(directory);
    if (found.holds_results) check_results(options, directory);
    if (options.restart.empty() || !found.holds_results) check_files_in_the_way(found);
    if (options.overwrite) overwrite(found, options, settings);
    std::ranges::move(remove_old_requests(directory), std::back_inserter(warnings));
  } catch (const fs::filesystem_error& error) {
    throw Error(ExitCode::io,
                fmt::format("{}: the output directory cannot be prepared: {}", directory, error.code().message()));
  }
  return warnings;
}

/// Makes the output directory ready for a run: creates and locks it, refuses one that the run must not write to, and
/// with --overwrite removes the files of earlier runs. Returns warnings on rank 0. Collective. Throws Error(usage) or
/// Error(io).
std::vector<std::string> prepare_directory(const RunOptions& options, const io::Case& settings) {
  std::vector<std::string> warnings;
  run_on_root(MPI_COMM_WORLD, [&] { warnings = prepare(options, settings); });
  return warnings;
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
  const OutputNeed output = outputs_need(input.settings, grid, decomposition.x_pencil(rank_of(MPI_COMM_WORLD)));
  require_memory(input.settings.flow, decomposition, tuning.chosen.exchange, MPI_COMM_WORLD, output.own_memory);
  watchdog.begin(Watchdog::Task::start, "start of the run");
  RunLoop run(input.settings, grid, std::move(tuning), log, watchdog, start);
  run.begin(options.restart, options.allow_change);
  run.run();
  return ExitCode::success;
}

}  // namespace sluice
