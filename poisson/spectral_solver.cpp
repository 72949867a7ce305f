#include "poisson/spectral_solver.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/device/memory.hpp"
#include "core/support/error.hpp"
#include "poisson/divergence/divergence_rows.hpp"

namespace sluice {

namespace {

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

SpectralColumns::SpectralColumns(const Decomposition& decomposition, int rank, Order order) {
  const Box3 pencil = decomposition.spectral_y_pencil(rank);
  nx = pencil.nx();
  ny = pencil.ny();
  nz = std::max(pencil.nz(), 1);
  if (decomposition.processes().py > 1) {  // in the array of the transpose
    row = Transpose<std::complex<real>>::row_length(pencil);
    plane = row * ny;
  } else {                          // in the field
    if (!device::is_gpu()) nz = 1;  // transformed along x and then along y while it is in the cache
    row = PoissonSolver::row_length(decomposition.cells()[0]) / 2;
    plane = row * (ny + std::int64_t{2} * PoissonSolver::halo(order).y);
  }
}

SpectralSolver::SpectralSolver(const Communicator& comm, const Decomposition& decomposition,
                               const PoissonSolver::Domain& domain, TridiagonalMethod method,
                               const ExchangeSet& exchanges)
    : comm_(&comm),
      decomposition_(decomposition),
      domain_(domain),
      cells_(decomposition.cells()),
      x_pencil_(decomposition.x_pencil(comm.rank())),
      y_pencil_(decomposition.spectral_y_pencil(comm.rank())),
      halo_(PoissonSolver::halo(domain.order)),
      fourier_x_(x_pencil_, PoissonSolver::row_length(cells_[0]), FourierMethod::fastest, fft_work_, halo_.y),
      columns_(decomposition, comm.rank(), domain.order),
      fourier_y_(columns_.nx, columns_.ny, columns_.nz, columns_.row, columns_.plane, FourierMethod::fastest,
                 fft_work_),
      plan_(plan_lines(decomposition, comm.z_index(), method)),
      boxes_(spectral_lines(decomposition, comm.rank())),
      eigenvalues_x_(eigenvalues_of_div_grad(cells_[0], domain.dx, cells_[0] / 2 + 1, domain.order)),
      eigenvalues_y_(eigenvalues_of_div_grad(cells_[1], domain.dy, cells_[1], domain.order)),
      // P-TDMA on a CPU: WholeLines, or TwoPasses if z is split (line_strategies_cpu.cpp).
      lines_(make_line_solver<ShiftedLines>(comm, boxes_, plan_, exchanges.columns)) {
  if (comm.processes().py == 1) return;
  to_y_.emplace(comm.row(), comm.row_boxes([&](int rank) { return decomposition.spectral_x_pencil(rank); }),
                comm.row_boxes([&](int rank) { return decomposition.spectral_y_pencil(rank); }), exchanges.rows);
}

void SpectralSolver::require_like(const Field& field) const {
  SLUICE_REQUIRE(field.halo() == halo_ && field.box() == x_pencil_,
                 "the field is not like those of PoissonSolver::make_field");
}

/// The coefficients with y whole: in the field itself, unless y is split over ranks.
View3<SpectralSolver::Complex> SpectralSolver::y_view(Field& phi) {
  return to_y_ ? to_y_->transposed() : phi.complex_view();
}

/// Makes y whole after a transform along x.
void SpectralSolver::make_y_whole(Field& field, PhaseTimers& timers) {
  if (!to_y_) return;
  const PhaseTimers::Scope scope(timers, TimedPhase::transpose);
  to_y_->forward(field.complex_view());
}

/// Of the planes that are transformed at once, from `first` on; of all if y is split over ranks.
void SpectralSolver::forward_y(Field& field, std::int64_t first, PhaseTimers& timers) {
  if (!has_y()) return;
  const PhaseTimers::Scope scope(timers, TimedPhase::fft_y);
  fourier_y_.forward(y_view(field), first);
}

void SpectralSolver::backward_y(Field& field, std::int64_t first, PhaseTimers& timers) {
  if (!has_y()) return;
  const PhaseTimers::Scope scope(timers, TimedPhase::fft_y);
  fourier_y_.backward(y_view(field), first);
}

void SpectralSolver::solve_lines(Field& phi, const LineEquations& equations, PhaseTimers& timers) {
  const PhaseTimers::Scope scope(timers, TimedPhase::tridiagonal);
  const View3<Complex> view = y_view(phi);
  const LineArray array{reinterpret_cast<real*>(view.origin), 2 * view.stride_y, 2 * view.stride_z, 2 * y_pencil_.nx(),
                        y_pencil_.ny()};
  lines_->solve({{equations.at_home, equations.whole, array}});
  if (equations.periodic) equations.periodic->correct(view);
}

/// forward_x(planes): the transform along x of the right-hand side in these planes.
template <class ForwardX>
void SpectralSolver::solve(Field& phi, const LineEquations& equations, PhaseTimers& timers, const ForwardX& forward_x) {
  require_like(phi);
  const auto for_planes = [&](const auto& action) {
    std::int64_t first = 0;
    do {
      action(PlaneRange{first, std::min<std::int64_t>(first + columns_.nz, x_pencil_.nz())});
      first += columns_.nz;
    } while (first < x_pencil_.nz());
  };
  for_planes([&](const PlaneRange& planes) {
    {
      const PhaseTimers::Scope scope(timers, TimedPhase::fft_x);
      forward_x(planes);
    }
    if (!to_y_) forward_y(phi, planes.first, timers);
  });
  if (to_y_) {
    make_y_whole(phi, timers);
    forward_y(phi, 0, timers);
  }
  solve_lines(phi, equations, timers);
  if (to_y_) {
    backward_y(phi, 0, timers);
    const PhaseTimers::Scope scope(timers, TimedPhase::transpose);
    to_y_->backward(phi.complex_view());
  }
  for_planes([&](const PlaneRange& planes) {
    if (!to_y_) backward_y(phi, planes.first, timers);
    const PhaseTimers::Scope scope(timers, TimedPhase::fft_x);
    fourier_x_.backward(phi, planes);
  });
}

void SpectralSolver::solve(Field& field, const LineEquations& equations, PhaseTimers& timers) {
  solve(field, equations, timers, [&](const PlaneRange& planes) { fourier_x_.forward(field, planes); });
}

void SpectralSolver::solve(VelocityDivergence& divergence, Field& phi, const LineEquations& equations,
                           PhaseTimers& timers) {
  if (!fourier_divergence_) fourier_divergence_.emplace(fourier_x_, x_pencil_.nx());
  solve(phi, equations, timers,
        [&](const PlaneRange& planes) { fourier_divergence_->forward(divergence, phi, planes); });
}

PoissonSolver::Coefficients SpectralSolver::transform_x(Field& field, PhaseTimers& timers) {
  require_like(field);
  {
    const PhaseTimers::Scope scope(timers, TimedPhase::fft_x);
    fourier_x_.forward(field);
  }
  return coefficients(field, timers);
}

PoissonSolver::Coefficients SpectralSolver::coefficients(Field& field, PhaseTimers& timers) {
  require_like(field);
  make_y_whole(field, timers);
  return {y_view(field), y_pencil_};
}

PoissonSolver::Coefficients SpectralSolver::transform_y(Field& field, PhaseTimers& timers) {
  for (std::int64_t first = 0; first < y_pencil_.nz(); first += columns_.nz) forward_y(field, first, timers);
  return {y_view(field), y_pencil_};
}

}  // namespace sluice
