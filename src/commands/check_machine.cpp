#include "src/commands/check_machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "core/decomp/even_blocks.hpp"
#include "io/case/yaml_tree.hpp"
#include "io/files/posix_file.hpp"
#include "src/commands/step_forecast.hpp"
#include "src/run/memory_estimate.hpp"
#include "src/run/setup.hpp"

namespace sluice {

Machine read_machine(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  return parse_machine(io::read_input(file, "machine file", io::max_yaml_bytes), file, [&](const std::string& result) {
    return io::read_input((folder / result).string(), "result of bench step", io::max_yaml_bytes);
  });
}

Decomposition decomposition_on(const Machine& machine, const io::Case& settings, const ProcessGrid& processes) {
  const std::int64_t nz = settings.cells[2];
  return {settings.cells, processes,
          machine.is_gpu() ? even_blocks(nz, settings.z_blocks, processes.pz) : ZBlocks(nz, settings.z_blocks)};
}

ProcessGrid fastest_process_grid(const io::Case& settings, int ranks, const Machine& machine) {
  ProcessGrid fastest = choose_process_grid(settings, ranks);  // throws if none fits
  if (settings.process_grid) return fastest;
  double shortest = std::numeric_limits<double>::max();
  for (const ProcessGrid& grid : process_grids(settings, ranks)) {
    const double seconds = forecast_step(machine, settings.flow, decomposition_on(machine, settings, grid)).seconds();
    if (seconds >= shortest) continue;
    shortest = seconds;
    fastest = grid;
  }
  return fastest;
}

double print_step_forecast(const Machine& machine, const io::Case& settings, const Grid& grid,
                           const Decomposition& decomposition, Warnings& warnings) {
  const StepForecast forecast = forecast_step(machine, settings.flow, decomposition);
  const auto points = static_cast<double>(grid.points());
  const int ranks = decomposition.processes().size();
  const double seconds = forecast.seconds();
  fmt::print("machine         {}; {} device{}, {} per host\n", machine.title, ranks, ranks == 1 ? "" : "s",
             machine.devices_per_host);
  fmt::print(
      "step            {:.4g} ms: {:.3g} ns per point and step, {:.4g} point-steps per second, efficiency {:.1f} %\n",
      seconds * 1e3, seconds / points * 1e9, points / seconds, 100 * forecast.efficiency);
  std::vector<std::string> phases;
  for (const auto& [name, time] : forecast.phases) phases.push_back(fmt::format("{} {:.3g}", name, time * 1e3));
  fmt::print("phases          {} ms\n", fmt::join(phases, ", "));
  const double memory =
      std::ranges::max(memory_of_ranks(settings.flow, decomposition, settings.exchange, machine.is_gpu()));
  constexpr double gib = 1073741824;
  const bool fits = memory <= machine.memory;
  fmt::print("device memory   {:.2f} GiB of {:.2f} GiB\n", memory / gib, machine.memory / gib);
  if (!fits) warnings.add("the case does not fit in the memory of the devices: take more of them");
  if (const auto parts = left_out_of_forecast(settings.flow, machine.is_gpu()); !parts.empty())
    warnings.add(
        fmt::format("the forecast time per step is too low, because it leaves out {}", fmt::join(parts, ", ")));
  return seconds / points * 1e9;
}

}  // namespace sluice
