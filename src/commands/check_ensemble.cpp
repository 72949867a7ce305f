#include "src/commands/check_ensemble.hpp"

#include <fmt/format.h>

#include "core/device/memory.hpp"
#include "core/support/error.hpp"
#include "io/case/ensemble.hpp"
#include "src/commands/readable.hpp"
#include "src/outputs/output_needs.hpp"
#include "src/run/memory_estimate.hpp"

namespace sluice {

Spread spread_of(const io::Case& settings, int processes) {
  const int members = settings.ensemble.members;
  if (members > 0 && processes > members)
    throw Error(ExitCode::usage,
                fmt::format("--np {}: each member of an ensemble runs on one process, and the case has "
                            "{} member(s)",
                            processes, members));
  return {members, processes};
}

void print_ensemble(const Spread& spread, const io::Case& settings, const Grid& grid,
                    const Decomposition& decomposition, const RunLength& length, double speed, const io::Case& common,
                    Warnings& warnings) {
  const double memory = memory_of_ranks(settings.flow, decomposition, settings.exchange).front() +
                        outputs_need(settings, grid, decomposition.x_pencil(0)).own_memory;
  const double seconds = length.steps * static_cast<double>(grid.points()) * speed * 1e-9 * spread.of_process();
  fmt::print(
      "ensemble        {} members on {} process(es), up to {} on each, in turns: {} of memory on each, {}{} for "
      "all members, {} of files\n",
      spread.members, spread.processes, spread.of_process(), readable_size(memory * spread.of_process()),
      readable_time(seconds), device::is_gpu() ? " or less, as members share launches," : "",
      readable_size(disk_need(settings, grid, length).total() * spread.members));
  if (const std::string twins = io::first_equal_members(common); !twins.empty())
    warnings.add(fmt::format("{} do not differ: give them seeds, or keys in ensemble.vary", twins));
  if (common.walltime && seconds > *common.walltime)
    warnings.add(
        fmt::format("the walltime of {} will probably end the ensemble before it is complete: continue with "
                    "--restart auto, or take more processes",
                    readable_time(*common.walltime)));
}

}  // namespace sluice
