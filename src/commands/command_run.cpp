#include <fmt/format.h>
#include <mpi.h>

#include "core/device/timers.hpp"
#include "io/case/case_file.hpp"
#include "src/commands/commands.hpp"
#include "src/outputs/run_loop.hpp"

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

}  // namespace

ExitCode command_run(const RunOptions& options) {
  StartOptions start;
  start.wall_seconds = wall_seconds();
  const CaseInput input = read_case(with_run_options(options), MPI_COMM_WORLD);
  start.directory = DirectoryOptions{options.restart, options.allow_change, options.overwrite, options.input.file};
  start.reproducible = options.reproducible;
  // Static, because the end of the process, MPI_Finalize, may hang as well, and until then others must not write into
  // the directory.
  static RunGuard guard;
  RunLoop run(input, start, guard, MPI_COMM_WORLD);
  run.begin();
  run.run();
  return ExitCode::success;
}

}  // namespace sluice
