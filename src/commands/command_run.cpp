#include <fmt/format.h>
#include <mpi.h>

#include <string>
#include <vector>

#include "core/device/timers.hpp"
#include "io/case/case_file.hpp"
#include "src/commands/commands.hpp"
#include "src/outputs/ensemble_run.hpp"
#include "src/outputs/run_loop.hpp"

namespace sluice {

namespace {

/// The command-line options that change the case, as settings of keys.
CaseOptions with_run_options(const RunOptions& options) {
  CaseOptions input = options.input;
  if (!options.walltime.empty()) input.settings.push_back("walltime=" + io::quoted_yaml(options.walltime));
  if (!options.output.empty()) input.settings.push_back("output.directory=" + io::quoted_yaml(options.output));
  return input;
}

}  // namespace

ExitCode command_run(const RunOptions& options) {
  StartOptions start;
  start.wall_seconds = wall_seconds();
  std::vector<std::string> last;
  if (options.steps) last.push_back(fmt::format("time.steps={}", *options.steps));
  const EnsembleInput input = read_ensemble(with_run_options(options), last, MPI_COMM_WORLD);
  start.directory = DirectoryOptions{options.restart, options.allow_change, options.overwrite, options.input.file};
  start.reproducible = options.reproducible;
  // Static, because the end of the process, MPI_Finalize, may hang as well, and until then others must not write into
  // the directory.
  static EnsembleGuard guard;
  if (!input.members.empty()) {
    EnsembleRun ensemble(input.common, input.members, start, guard, MPI_COMM_WORLD);
    ensemble.run();
    return ExitCode::success;
  }
  RunLoop run(input.common, start, guard.own, MPI_COMM_WORLD);
  run.load();
  run.begin();
  run.run();
  return ExitCode::success;
}

}  // namespace sluice
