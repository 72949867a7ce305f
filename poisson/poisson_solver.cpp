#include "poisson/poisson_solver.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <optional>

#include "core/decomp/transpose.hpp"
#include "core/device/memory.hpp"
#include "core/support/error.hpp"
#include "poisson/divergence/divergence_fourier.hpp"
#include "poisson/divergence/divergence_rows.hpp"
#include "poisson/fft/fft.hpp"
#include "poisson/periodic_lines.hpp"
#include "poisson/tridiagonal/line_solver.hpp"
#include "poisson/tridiagonal/line_tables.hpp"

namespace sluice {

namespace {

using Complex = std::complex<real>;

/// Eigenvalues of the periodic div grad, for the first `count` wavenumbers, with t = 2 pi i / n. Exactly 0 only for the
/// constant mode, and the same for i and n - i.
std::vector<double> eigenvalues_of_div_grad(std::int64_t n, double d, std::int64_t count, Order order) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) {
    const double half = std::numbers::pi * static_cast<double>(std::min(i, n - i)) / static_cast<double>(n);
    const double wavenumber = modified_wavenumber(order, half);
    values.push_back(-wavenumber * wavenumber / (d * d));
  }
  return values;
}

}  // namespace

struct PoissonSolver::Parts {
  Parts(const Communicator& comm, const Decomposition& decomposition, const Domain& domain, TridiagonalMethod method,
        const ExchangeSet& exchanges)
      : cells(decomposition.cells()),
        x_pencil(decomposition.x_pencil(comm.rank())),
        y_pencil(decomposition.spectral_y_pencil(comm.rank())),
        halo(PoissonSolver::halo(domain.order)),
        fourier_x(x_pencil, row_length(cells[0]), FourierMethod::fastest, fft_work, halo.y),
        y_row(comm.processes().py > 1 ? Transpose<Complex>::row_length(y_pencil) : row_length(cells[0]) / 2),
        planes_at_once(device::is_gpu() || comm.processes().py > 1 ? std::max(x_pencil.nz(), 1) : 1),
        fourier_y(y_pencil.nx(), y_pencil.ny(), comm.processes().py > 1 ? y_pencil.nz() : planes_at_once, y_row,
                  comm.processes().py > 1 ? y_row * cells[1] : y_row * (cells[1] + std::int64_t{2} * halo.y),
                  FourierMethod::fastest, fft_work),
        plan(plan_lines(decomposition, comm.z_index(), method)),
        tables(domain.z_nodes, eigenvalues_of_div_grad(cells[0], domain.dx, cells[0] / 2 + 1, domain.order),
               eigenvalues_of_div_grad(cells[1], domain.dy, cells[1], domain.order), plan,
               static_cast<double>(cells[0]) * static_cast<double>(cells[1])),
        boxes(spectral_lines(decomposition, comm.rank())),
        at_home(tables.at_home(boxes.my_home())),
        whole(tables.whole(boxes.my_whole())),
        // P-TDMA on a CPU: WholeLines, or TwoPasses if z is split (line_strategies_cpu.cpp).
        lines(make_line_solver<ShiftedLines>(comm, boxes, plan, exchanges.columns)) {
    if (domain.periodic_z) {
      periodic.emplace(comm, decomposition,
                       eigenvalues_of_div_grad(cells[0], domain.dx, cells[0] / 2 + 1, domain.order),
                       eigenvalues_of_div_grad(cells[1], domain.dy, cells[1], domain.order), domain.z_nodes);
    }
    if (comm.processes().py == 1) return;
    to_y.emplace(comm.row(), comm.row_boxes([&](int rank) { return decomposition.spectral_x_pencil(rank); }),
                 comm.row_boxes([&](int rank) { return decomposition.spectral_y_pencil(rank); }), exchanges.rows);
  }

  bool has_y() const { return cells[1] > 1; }
  /// The coefficients with y whole: in the field itself, unless y is split over ranks.
  View3<Complex> y_view(Field& phi) { return to_y ? to_y->transposed() : phi.complex_view(); }

  /// Makes y whole after a transform along x.
  void make_y_whole(Field& field, PhaseTimers& timers) {
    if (!to_y) return;
    const PhaseTimers::Scope scope(timers, TimedPhase::transpose);
    to_y->forward(field.complex_view());
  }

  /// Of the planes that are transformed at once, from `first` on; of all if y is split over ranks.
  void forward_y(Field& field, std::int64_t first, PhaseTimers& timers) {
    if (!has_y()) return;
    const PhaseTimers::Scope scope(timers, TimedPhase::fft_y);
    fourier_y.forward(y_view(field), first);
  }
  void backward_y(Field& field, std::int64_t first, PhaseTimers& timers) {
    if (!has_y()) return;
    const PhaseTimers::Scope scope(timers, TimedPhase::fft_y);
    fourier_y.backward(y_view(field), first);
  }

  void solve_lines(Field& phi, PhaseTimers& timers) {
    const PhaseTimers::Scope scope(timers, TimedPhase::tridiagonal);
    const View3<Complex> view = y_view(phi);
    const LineArray array{reinterpret_cast<real*>(view.origin), 2 * view.stride_y, 2 * view.stride_z, 2 * y_pencil.nx(),
                          y_pencil.ny()};
    lines->solve({{at_home, whole, array}});
    if (periodic) periodic->correct(view);
  }

  /// forward_x(planes): the transform along x of the right-hand side in these planes.
  template <class ForwardX>
  void solve(Field& phi, PhaseTimers& timers, const ForwardX& forward_x) {
    const auto for_planes = [&](const auto& action) {
      std::int64_t first = 0;
      do {
        action(PlaneRange{first, std::min<std::int64_t>(first + planes_at_once, x_pencil.nz())});
        first += planes_at_once;
      } while (first < x_pencil.nz());
    };
    for_planes([&](const PlaneRange& planes) {
      {
        const PhaseTimers::Scope scope(timers, TimedPhase::fft_x);
        forward_x(planes);
      }
      if (!to_y) forward_y(phi, planes.first, timers);
    });
    if (to_y) {
      make_y_whole(phi, timers);
      forward_y(phi, 0, timers);
    }
    solve_lines(phi, timers);
    if (to_y) {
      backward_y(phi, 0, timers);
      const PhaseTimers::Scope scope(timers, TimedPhase::transpose);
      to_y->backward(phi.complex_view());
    }
    for_planes([&](const PlaneRange& planes) {
      if (!to_y) backward_y(phi, planes.first, timers);
      const PhaseTimers::Scope scope(timers, TimedPhase::fft_x);
      fourier_x.backward(phi, planes);
    });
  }

  std::array<std::int64_t, 3> cells;
  Box3 x_pencil, y_pencil;
  FftWork fft_work;
  HaloWidth halo;
  FourierX fourier_x;
  std::optional<DivergenceFourier> fourier_divergence;  ///< made when it is first used
  std::int64_t y_row;                                   ///< row length of the array transformed along y, in elements
  int planes_at_once;  ///< that are transformed along x and then along y: on a CPU one, which stays in its cache
  FourierY fourier_y;
  LinePlan plan;
  PoissonTables tables;
  LineBoxes boxes;
  ShiftedLines at_home, whole;
  std::unique_ptr<LineSolver<ShiftedLines>> lines;
  std::optional<PeriodicLines> periodic;
  std::optional<Transpose<Complex>> to_y;
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
  memory.held += PoissonTables::bytes(plan, boxes.my_home(), boxes.my_whole());
  if (periodic_z) memory.held += PeriodicLines::memory(decomposition, rank);
  const ProcessGrid& processes = decomposition.processes();
  if (processes.py == 1) return memory;
  std::vector<Box3> from, to;
  for (int y = 0; y < processes.py; ++y) {
    from.push_back(decomposition.spectral_x_pencil(processes.rank(y, processes.z_index(rank))));
    to.push_back(decomposition.spectral_y_pencil(processes.rank(y, processes.z_index(rank))));
  }
  memory.rows = Transpose<Complex>::memory(from, to, processes.y_index(rank));
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

std::int64_t PoissonSolver::row_length(std::int64_t nx) {
  const std::int64_t min_length = 2 * (nx / 2 + 1);
  if (device::is_gpu()) return min_length;  // cuFFT along x is 1.7 times faster without gaps between rows
  constexpr auto in_line = static_cast<std::int64_t>(64 / sizeof(real));
  return (min_length + in_line - 1) / in_line * in_line;
}

Field PoissonSolver::make_field() const {
  return Field(parts_->x_pencil, Location::center, row_length(parts_->cells[0]), parts_->halo);
}

PoissonSolver::Coefficients PoissonSolver::transform_x(Field& field, PhaseTimers& timers) {
  Parts& p = *parts_;
  SLUICE_REQUIRE(field.halo() == p.halo, "the field is not like those of PoissonSolver::make_field");
  {
    const PhaseTimers::Scope scope(timers, TimedPhase::fft_x);
    p.fourier_x.forward(field);
  }
  return coefficients(field, timers);
}

PoissonSolver::Coefficients PoissonSolver::coefficients(Field& field, PhaseTimers& timers) {
  Parts& p = *parts_;
  SLUICE_REQUIRE(field.halo() == p.halo && field.box() == p.x_pencil,
                 "the field is not like those of PoissonSolver::make_field");
  p.make_y_whole(field, timers);
  return {p.y_view(field), p.y_pencil};
}

PoissonSolver::Coefficients PoissonSolver::transform_y(Field& field, PhaseTimers& timers) {
  Parts& p = *parts_;
  for (std::int64_t first = 0; first < p.y_pencil.nz(); first += p.planes_at_once) p.forward_y(field, first, timers);
  return {p.y_view(field), p.y_pencil};
}

void PoissonSolver::solve(Field& phi, PhaseTimers& timers) {
  Parts& p = *parts_;
  SLUICE_REQUIRE(phi.halo() == p.halo, "phi is not like the fields of PoissonSolver::make_field");
  p.solve(phi, timers, [&](const PlaneRange& planes) { p.fourier_x.forward(phi, planes); });
}

bool PoissonSolver::forms_divergence(std::int64_t nx, Order order) {
  return DivergenceFourier::supports(nx, order);
}

void PoissonSolver::solve(VelocityDivergence& divergence, Field& phi, PhaseTimers& timers) {
  Parts& p = *parts_;
  if (!forms_divergence(p.cells[0], divergence.rows.order)) {
    {
      const PhaseTimers::Scope scope(timers, TimedPhase::divergence);
      write_divergence(divergence, phi);
    }
    return solve(phi, timers);
  }
  SLUICE_REQUIRE(phi.halo() == p.halo, "phi is not like the fields of PoissonSolver::make_field");
  if (!p.fourier_divergence) p.fourier_divergence.emplace(p.fourier_x, p.x_pencil.nx());
  p.solve(phi, timers, [&](const PlaneRange& planes) { p.fourier_divergence->forward(divergence, phi, planes); });
}

}  // namespace sluice
