#pragma once
#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/decomp/transpose.hpp"
#include "poisson/divergence/divergence_fourier.hpp"
#include "poisson/fft/fft.hpp"
#include "poisson/periodic_lines.hpp"
#include "poisson/poisson_solver.hpp"
#include "poisson/tridiagonal/line_solver.hpp"

namespace sluice {

/// The systems along z of all pairs of wavenumbers.
struct LineEquations {
  ShiftedLines at_home, whole;
  PeriodicLines* periodic = nullptr;  ///< null: between walls
};

/// The coefficients that a rank transforms along y at once. Rows and planes of the array are `row` and `plane` elements
/// apart.
struct SpectralColumns {
  int nx, ny, nz;
  std::int64_t row, plane;

  /// Of fields like those of PoissonSolver::make_field(). Local.
  SpectralColumns(const Decomposition& decomposition, int rank, Order order);
};

/// What solvers in Fourier space share: the transforms along x and y of fields like those of
/// PoissonSolver::make_field(), the transposes between them, and the solver of the systems along z.
class SpectralSolver {
 public:
  SpectralSolver(const Communicator& comm, const Decomposition& decomposition, const PoissonSolver::Domain& domain,
                 TridiagonalMethod method, const ExchangeSet& exchanges);
  SpectralSolver(const SpectralSolver&) = delete;
  SpectralSolver& operator=(const SpectralSolver&) = delete;

  /// Throws Error(internal) unless the field is like those of make_field().
  void require_like(const Field& field) const;

  /// In place: transforms along x and y, solves the systems, transforms back. Collective.
  void solve(Field& field, const LineEquations& equations, PhaseTimers& timers);
  /// The same for the right-hand side div u* / (gamma dt), which the transform along x forms.
  void solve(VelocityDivergence& divergence, Field& phi, const LineEquations& equations, PhaseTimers& timers);

  /// PoissonSolver::transform_x and so on.
  PoissonSolver::Coefficients transform_x(Field& field, PhaseTimers& timers);
  PoissonSolver::Coefficients coefficients(Field& field, PhaseTimers& timers);
  PoissonSolver::Coefficients transform_y(Field& field, PhaseTimers& timers);

  const Communicator& comm() const { return *comm_; }
  const Decomposition& decomposition() const { return decomposition_; }
  const PoissonSolver::Domain& domain() const { return domain_; }
  const LinePlan& plan() const { return plan_; }
  const LineBoxes& boxes() const { return boxes_; }
  /// Eigenvalues of the second differences along x and y, for the wavenumbers of all coefficients.
  const std::vector<double>& eigenvalues_x() const { return eigenvalues_x_; }
  const std::vector<double>& eigenvalues_y() const { return eigenvalues_y_; }
  /// nx ny: both transforms together multiply by it.
  double scale() const { return static_cast<double>(cells_[0]) * static_cast<double>(cells_[1]); }

 private:
  using Complex = std::complex<real>;

  bool has_y() const { return cells_[1] > 1; }
  View3<Complex> y_view(Field& phi);
  void make_y_whole(Field& field, PhaseTimers& timers);
  void forward_y(Field& field, std::int64_t first, PhaseTimers& timers);
  void backward_y(Field& field, std::int64_t first, PhaseTimers& timers);
  void solve_lines(Field& phi, const LineEquations& equations, PhaseTimers& timers);
  template <class ForwardX>
  void solve(Field& phi, const LineEquations& equations, PhaseTimers& timers, const ForwardX& forward_x);

  const Communicator* comm_;
  Decomposition decomposition_;
  PoissonSolver::Domain domain_;
  std::array<std::int64_t, 3> cells_;
  Box3 x_pencil_, y_pencil_;
  FftWork fft_work_;
  HaloWidth halo_;
  FourierX fourier_x_;
  std::optional<DivergenceFourier> fourier_divergence_;  ///< made when it is first used
  SpectralColumns columns_;
  FourierY fourier_y_;
  LinePlan plan_;
  LineBoxes boxes_;
  std::vector<double> eigenvalues_x_, eigenvalues_y_;
  std::unique_ptr<LineSolver<ShiftedLines>> lines_;
  std::optional<Transpose<Complex>> to_y_;
};

}  // namespace sluice
