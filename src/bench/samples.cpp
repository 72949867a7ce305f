// What samples of statistics, spectra and densities cost, beside a step.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "core/device/memory.hpp"
#include "core/support/collective.hpp"
#include "solver/statistics/densities.hpp"
#include "solver/statistics/spectra.hpp"
#include "solver/statistics/statistics.hpp"
#include "src/bench/bench.hpp"
#include "src/bench/result.hpp"
#include "src/run/setup.hpp"
#include "src/run/simulation.hpp"

namespace sluice {

ExitCode bench_samples(const BenchOptions& options, const io::Case& settings, const Layout& layout) {
  Simulation simulation(settings, make_grid(settings, ""), layout, MPI_COMM_WORLD);
  simulation.initialise();
  const auto statistics = [&](bool budgets) {
    return Statistics(simulation.grid, simulation.stepper.metrics(), simulation.flow, simulation.stepper.walls(),
                      simulation.box(), {.budgets = budgets}, simulation.comm.world());
  };
  Statistics moments = statistics(false);
  Statistics budgets = statistics(true);
  Spectra spectra(simulation.flow, simulation.comm, simulation.decomposition);

  const std::int64_t middle = settings.cells[2] / 2;
  Densities densities(simulation.grid, simulation.stepper.metrics(), simulation.flow, simulation.stepper.walls(),
                      simulation.box(), {middle / 4, middle / 2, middle}, simulation.comm.world());

  std::vector<Json> rows;
  double step = 0;
  const auto measure = [&](const std::string& name, const std::function<void()>& action) {
    const Spread seconds =
        spread_of_repeats(std::max(2, options.repeats / 10), options.repeats, [&] { return seconds_of(action); });
    if (rows.empty()) step = seconds.median;
    Json& row = rows.emplace_back(new_result("samples"));
    row["name"] = name;
    row["cells"] = settings.cells;
    row["diffusion"] = options.diffusion;
    row["order"] = options.order;
    row["process_grid"] = {layout.processes.py, layout.processes.pz};
    row["repeats"] = options.repeats;
    add_milliseconds(row, seconds);
    row["percent_of_ten_steps"] = 10 * seconds.median / step;
  };
  measure("step", [&] { simulation.advance(); });
  measure("moments", [&] { moments.sample(simulation.state(), simulation.forcing.x); });
  measure("moments and budgets", [&] { budgets.sample(simulation.state(), simulation.forcing.x); });
  measure("densities", [&] { densities.sample(simulation.state(), simulation.forcing.x); });
  measure("spectra", [&] { simulation.stepper.sample(simulation.state(), simulation.forcing.x, spectra); });

  JsonLines json(options.json);
  for (const Json& row : rows) json.write(row);
  run_on_root(MPI_COMM_WORLD, [&] {
    const auto& [nx, ny, nz] = settings.cells;
    fmt::print("samples on {} x {} x {}, order {}, diffusion {}, {} precision\n{} rank(s) as {} x {}, {}\n", nx, ny, nz,
               options.order, options.diffusion, precision_name, layout.processes.size(), layout.processes.py,
               layout.processes.pz, device::description());
    print_table(rows, {text_column("", 24, "name"), time_column(),
                       number_column("% of ten steps", 16, "percent_of_ten_steps", 1)});
  });
  return ExitCode::success;
}

}  // namespace sluice
