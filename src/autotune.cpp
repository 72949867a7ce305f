#include "src/autotune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/decomp/communicator.hpp"
#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/halo_exchange.hpp"
#include "core/device/memory.hpp"
#include "core/support/collective.hpp"
#include "core/support/timers.hpp"
#include "poisson/helmholtz_solver.hpp"
#include "poisson/poisson_solver.hpp"
#include "src/setup.hpp"

namespace sluice {

namespace {

/// What depends on the layout in a substep: the Poisson solve, with z-implicit diffusion three solves along z, and the
/// halos.
double time_of_substep(const io::Case& settings, const Grid& grid, const FlowParameters& flow, const Layout& layout,
                       MPI_Comm world) {
  const Communicator comm(world, layout.processes);
  const Decomposition decomposition(settings.cells, layout.processes, settings.z_blocks);
  const auto exchange = make_exchange(layout.exchange, world);
  const std::int64_t row_length = PoissonSolver::row_length(settings.cells[0]);
  const Box3 box = decomposition.x_pencil(comm.rank());
  Field field(box, Location::center, row_length);
  HaloExchange halo(comm, box, 4, *exchange);
  PoissonSolver poisson(comm, decomposition, {grid.dx(), grid.dy(), grid.z_nodes()}, flow.tridiagonal, *exchange);
  std::optional<ZHelmholtzSolver> diffusion;
  if (flow.diffusion == Diffusion::implicit_z) {
    diffusion.emplace(comm, decomposition,
                      second_derivative_centers(grid.z_nodes(), WallRow::dirichlet, WallRow::dirichlet),
                      flow.tridiagonal, *exchange);
    diffusion->prepare(1e-3);
  }
  PhaseTimers timers;
  double least = std::numeric_limits<double>::max();
  for (int n = 0; n < 4; ++n) {  // the first one warms up
    device::synchronize();
    MPI_Barrier(comm.world());
    const double start = wall_seconds();
    poisson.solve(field, timers);
    for (int component = 0; diffusion && component < 3; ++component) diffusion->solve(field);
    halo.update({&field, &field});                  // v*, w*
    halo.update({&field});                          // phi
    halo.update({&field, &field, &field, &field});  // u, v, w, p
    device::synchronize();
    double seconds = wall_seconds() - start;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm.world());
    if (n > 0) least = std::min(least, seconds);
  }
  return least;
}

/// Whether a stored layout is one that the case and the rank count still allow.
bool fits(const Layout& layout, const std::vector<ProcessGrid>& grids, const std::vector<std::string>& methods) {
  return std::ranges::find(grids, layout.processes) != grids.end() &&
         std::ranges::find(methods, layout.exchange) != methods.end();
}

}  // namespace

Tuning tune(const io::Case& settings, const Grid& grid, const FlowParameters& flow, const std::optional<Layout>& stored,
            MPI_Comm world) {
  const int ranks = size_of(world);
  const ProcessGrid usual = choose_process_grid(settings, ranks);
  const std::vector<ProcessGrid> grids =
      settings.process_grid ? std::vector{usual} : Decomposition::candidates(settings.cells, ranks, settings.z_blocks);
  const std::vector<std::string> methods =
      settings.exchange == "auto" ? exchange_candidates(world) : std::vector{settings.exchange};
  if (stored && fits(*stored, grids, methods)) return {*stored, {}};
  if (ranks == 1 || (grids.size() == 1 && methods.size() == 1)) return {{usual, methods.front()}, {}};

  Tuning tuning;
  for (const ProcessGrid& processes : grids) {
    for (const std::string& method : methods) {
      const Layout layout{processes, method};
      tuning.table.push_back({layout, time_of_substep(settings, grid, flow, layout, world)});
    }
  }
  tuning.chosen = std::ranges::min_element(tuning.table, {}, &MeasuredLayout::seconds)->layout;
  return tuning;
}

std::vector<std::string> table_lines(const Tuning& tuning) {
  std::vector<std::string> lines;
  if (!tuning.table.empty()) lines.emplace_back("Solves and exchanges of one substep, measured (py x pz, method):");
  for (const MeasuredLayout& entry : tuning.table) {
    const bool chosen =
        entry.layout.processes == tuning.chosen.processes && entry.layout.exchange == tuning.chosen.exchange;
    lines.push_back(fmt::format("  {} x {}  {:<14}{:10.3f} ms{}", entry.layout.processes.py, entry.layout.processes.pz,
                                entry.layout.exchange, entry.seconds * 1e3, chosen ? "  chosen" : ""));
  }
  return lines;
}

}  // namespace sluice
