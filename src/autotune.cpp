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
#include "src/memory_estimate.hpp"
#include "src/setup.hpp"

namespace sluice {

namespace {

constexpr double budget = 8;           ///< seconds after which no further layout is begun
constexpr double endless = 2;          ///< seconds of a substep: repeated no more often than needed
constexpr double hopeless = 1.5;       ///< times the best: not worth repeating
constexpr double noise = 1.02;         ///< times the best: as good
constexpr std::size_t grids_kept = 2;  ///< of those measured with one method, to be measured with all

/// What depends most on the layout in a substep: the Poisson solve, with z-implicit diffusion three solves along z, and
/// the halos; of zeros, since values that fade to nothing would slow CPUs down. Looks no closer at a layout that takes
/// much longer than `best`.
double time_of_substep(const io::Case& settings, const Grid& grid, const FlowParameters& flow, const Layout& layout,
                       double best, MPI_Comm world) {
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
  for (int n = 0; n < 4; ++n) {  // the first one warms up: a library may connect the ranks in it
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
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm.world()), "MPI_Allreduce");
    if (seconds > endless && seconds > hopeless * best) return seconds;
    if (n == 0) continue;
    least = std::min(least, seconds);
    if (least > hopeless * best || seconds > endless) break;
  }
  return least;
}

bool same(const Layout& a, const Layout& b) {
  return a.processes == b.processes && a.exchange == b.exchange;
}

/// Measures layouts while there is time, each once.
class Measurements {
 public:
  Measurements(const io::Case& settings, const Grid& grid, const FlowParameters& flow, MPI_Comm world)
      : settings_(settings), grid_(grid), flow_(flow), world_(world), start_(wall_seconds()) {}

  void add(const Layout& layout) {
    if (std::ranges::any_of(table_, [&](const auto& entry) { return same(entry.layout, layout); })) return;
    if (table_.empty()) {
      require_memory(grid_, flow_, decomposition_of(layout), layout.exchange, world_);
    } else if (time_is_over() || !has_memory(grid_, flow_, decomposition_of(layout), layout.exchange, world_)) {
      ++left_out_;
      return;
    }
    const double best = table_.empty() ? std::numeric_limits<double>::max() : fastest().seconds;
    table_.push_back({layout, time_of_substep(settings_, grid_, flow_, layout, best, world_)});
  }

  const MeasuredLayout& fastest() const { return *std::ranges::min_element(table_, {}, &MeasuredLayout::seconds); }
  const std::vector<MeasuredLayout>& table() const { return table_; }
  int left_out() const { return left_out_; }
  double seconds() const { return wall_seconds() - start_; }

 private:
  Decomposition decomposition_of(const Layout& layout) const {
    return {settings_.cells, layout.processes, settings_.z_blocks};
  }

  /// By the clock of rank 0, so that all ranks agree.
  bool time_is_over() const {
    double seconds = wall_seconds() - start_;
    check_mpi(MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, world_), "MPI_Bcast");
    return seconds > budget;
  }

  const io::Case& settings_;
  const Grid& grid_;
  const FlowParameters& flow_;
  MPI_Comm world_;
  double start_;
  std::vector<MeasuredLayout> table_;
  int left_out_ = 0;
};

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

  // The default first: then the grids by its method, then the other methods on the best of those.
  const Layout usually{usual, methods.front()};
  Measurements measurements(settings, grid, flow, world);
  measurements.add(usually);
  for (const ProcessGrid& processes : grids) measurements.add({processes, methods.front()});
  std::vector<MeasuredLayout> by_time = measurements.table();
  std::ranges::sort(by_time, {}, &MeasuredLayout::seconds);
  by_time.resize(std::min(by_time.size(), grids_kept));
  for (const MeasuredLayout& entry : by_time) {
    if (entry.seconds > hopeless * by_time.front().seconds) continue;
    for (const std::string& method : methods) measurements.add({entry.layout.processes, method});
  }

  Tuning tuning{measurements.fastest().layout, measurements.table(), measurements.left_out(), measurements.seconds()};
  if (tuning.table.front().seconds <= noise * measurements.fastest().seconds) tuning.chosen = usually;
  return tuning;
}

std::vector<std::string> table_lines(const Tuning& tuning) {
  std::vector<std::string> lines;
  if (tuning.table.empty()) return lines;
  lines.push_back(
      fmt::format("Solves and exchanges of one substep, measured in {:.1f} s (py x pz, method):", tuning.seconds));
  for (const MeasuredLayout& entry : tuning.table) {
    const bool chosen = same(entry.layout, tuning.chosen);
    lines.push_back(fmt::format("  {} x {}  {:<14}{:10.3f} ms{}", entry.layout.processes.py, entry.layout.processes.pz,
                                entry.layout.exchange, entry.seconds * 1e3, chosen ? "  chosen" : ""));
  }
  if (tuning.left_out > 0)
    lines.push_back(fmt::format("  {} more not measured: no time or memory for them", tuning.left_out));
  return lines;
}

}  // namespace sluice
