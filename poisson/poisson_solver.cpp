#include "poisson/poisson_solver.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/decomp/transpose.hpp"
#include "core/device/memory.hpp"
#include "core/support/error.hpp"
#include "poisson/divergence/divergence_rows.hpp"
#include "poisson/spectral_solver.hpp"
#include "poisson/tridiagonal/line_tables.hpp"

namespace sluice {

struct PoissonSolver::Parts {
  Parts(const Communicator& comm, const Decomposition& decomposition, const Domain& domain, TridiagonalMethod method,
        const ExchangeSet& exchanges)
      : spectral(comm, decomposition, domain, method, exchanges),
        tables(domain.z_nodes, spectral.eigenvalues_x(), spectral.eigenvalues_y(), spectral.plan(), spectral.scale()),
        equations{tables.at_home(spectral.boxes().my_home()), tables.whole(spectral.boxes().my_whole())} {
    for (const Order order : {Order::second, Order::fourth})
      forms_divergence[static_cast<std::size_t>(order)] =
          PoissonSolver::forms_divergence(decomposition.cells()[0], order);
    if (!domain.periodic_z) return;
    periodic.emplace(comm, decomposition, domain.z_nodes);
    periodic->set(spectral.eigenvalues_x(), spectral.eigenvalues_y());
    equations.periodic = &*periodic;
  }

  SpectralSolver spectral;
  PoissonTables tables;
  LineEquations equations;
  std::optional<PeriodicLines> periodic;
  std::array<bool, 2> forms_divergence{};  ///< of either order: PoissonSolver::forms_divergence()
};

PoissonSolver::PoissonSolver(const Communicator& comm, const Decomposition& decomposition, const Domain& domain,
                             TridiagonalMethod method, const ExchangeSet& exchanges) {
  SLUICE_REQUIRE(static_cast<std::int64_t>(domain.z_nodes.size()) == decomposition.cells()[2] + 1,
                 "z_nodes: one more than cells in z");
  SLUICE_REQUIRE(domain.dx > 0 && domain.dy > 0, "cell sizes must be positive");
  parts_ = std::make_unique<Parts>(comm, decomposition, domain, method, exchanges);
}

PoissonSolver::PoissonSolver(PoissonSolver&&) noexcept = default;
PoissonSolver& PoissonSolver::operator=(PoissonSolver&&) noexcept = default;
PoissonSolver::~PoissonSolver() = default;

MemoryNeed PoissonSolver::memory(const Decomposition& decomposition, int rank, TridiagonalMethod method,
                                 bool periodic_z) {
  const LinePlan plan = plan_lines(decomposition, decomposition.processes().z_index(rank), method);
  const LineBoxes boxes = spectral_lines(decomposition, rank);
  MemoryNeed memory = line_solver_need(boxes, plan, ShiftedLines::components);
  memory.held += ShiftedTables::bytes(plan, boxes.my_home(), boxes.my_whole());
  if (periodic_z) memory.held += PeriodicLines::memory(decomposition, rank);
  const ProcessGrid& processes = decomposition.processes();
  if (processes.py == 1) return memory;
  std::vector<Box3> from, to;
  for (int y = 0; y < processes.py; ++y) {
    from.push_back(decomposition.spectral_x_pencil(processes.rank(y, processes.z_index(rank))));
    to.push_back(decomposition.spectral_y_pencil(processes.rank(y, processes.z_index(rank))));
  }
  memory.rows = Transpose<std::complex<real>>::memory(from, to, processes.y_index(rank));
  return memory;
}

PhaseWords PoissonSolver::words(const std::array<std::int64_t, 3>& cells, const ProcessGrid& processes,
                                LineStrategy lines, std::optional<Order> divergence) {
  const bool fused = divergence && forms_divergence(cells[0], *divergence);
  constexpr int both_ways = 4;                                     // each transform and transpose reads and writes once
  return {{TimedPhase::divergence, divergence && !fused ? 4 : 0},  // reads u*, v*, w*, writes
          {TimedPhase::fft_x, both_ways + (fused ? 2 : 0)},        // reads u*, v*, w* instead
          {TimedPhase::fft_y, cells[1] > 1 ? both_ways : 0},
          {TimedPhase::transpose, processes.py > 1 ? both_ways : 0},
          {TimedPhase::tridiagonal, words_of(lines)}};
}

double PoissonSolver::field_memory(const Decomposition& decomposition, int rank, Order order) {
  return Field::memory(decomposition.x_pencil(rank), row_length(decomposition.cells()[0]), halo(order));
}

double PoissonSolver::transform_memory(const Decomposition& decomposition, int rank, Order order) {
  const SpectralColumns columns(decomposition, rank, order);
  return static_cast<double>(
      std::max(FourierX::work_bytes(decomposition.x_pencil(rank), row_length(decomposition.cells()[0]), halo(order).y),
               FourierY::work_bytes(columns.nx, columns.ny, columns.row)));
}

std::int64_t PoissonSolver::row_length(std::int64_t nx) {
  const std::int64_t min_length = 2 * (nx / 2 + 1);
  // On GPUs alignment makes transforms along y of long grids up to 8 % faster; shorter grids gain or lose 1 or 2 %.
  constexpr std::int64_t long_row = 2048;
  if (device::is_gpu() && (nx <= long_row || !FourierX::allows_gaps(nx))) return min_length;
  constexpr auto in_line = static_cast<std::int64_t>(64 / sizeof(real));
  return (min_length + in_line - 1) / in_line * in_line;
}

Field PoissonSolver::make_field() const {
  const Decomposition& decomposition = parts_->spectral.decomposition();
  return Field(decomposition.x_pencil(parts_->spectral.comm().rank()), Location::center,
               row_length(decomposition.cells()[0]), halo(parts_->spectral.domain().order));
}

SpectralSolver& PoissonSolver::spectral() {
  return parts_->spectral;
}

PoissonSolver::Coefficients PoissonSolver::transform_x(Field& field, PhaseTimers& timers) {
  return parts_->spectral.transform_x(field, timers);
}

PoissonSolver::Coefficients PoissonSolver::coefficients(Field& field, PhaseTimers& timers) {
  return parts_->spectral.coefficients(field, timers);
}

PoissonSolver::Coefficients PoissonSolver::transform_y(Field& field, PhaseTimers& timers) {
  return parts_->spectral.transform_y(field, timers);
}

void PoissonSolver::solve(Field& phi, PhaseTimers& timers) {
  parts_->spectral.solve(phi, parts_->equations, timers);
}

bool PoissonSolver::forms_divergence(std::int64_t nx, Order order) {
  return DivergenceFourier::supports(nx, order);
}

void PoissonSolver::solve(VelocityDivergence& divergence, Field& phi, PhaseTimers& timers) {
  if (parts_->forms_divergence[static_cast<std::size_t>(divergence.rows.order)])
    return parts_->spectral.solve(divergence, phi, parts_->equations, timers);
  {
    const PhaseTimers::Scope scope(timers, TimedPhase::divergence);
    write_divergence(divergence, phi);
  }
  solve(phi, timers);
}

}  // namespace sluice
