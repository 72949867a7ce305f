#pragma once
#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/decomposition.hpp"
#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/field.hpp"
#include "core/decomp/memory_need.hpp"
#include "core/device/timers.hpp"
#include "core/stencil/order.hpp"
#include "core/stencil/tridiagonal_method.hpp"
#include "core/support/phases.hpp"

namespace sluice {

enum class LineStrategy;    // poisson/tridiagonal/line_plan.hpp
class SpectralSolver;       // poisson/spectral_solver.hpp
struct VelocityDivergence;  // poisson/divergence/divergence_rows.hpp

/// Solves div grad(phi) = rhs, the discrete operator on the staggered grid, eq. (2): of order 2 or 4 along x and y,
/// where it is periodic and uniform, no flux through the walls in z. Fourier transforms in x and y, one tridiagonal
/// system along z for each pair of wavenumbers (Diez Sanhueza et al. 2025, sec. 2.2). The result is the same on every
/// process grid: bitwise in a CPU build, to round-off on several GPUs.
class PoissonSolver {
 public:
  struct Domain {
    double dx, dy;
    std::vector<double> z_nodes;  ///< the nz + 1 face coordinates, walls included
    Order order = Order::second;  ///< of div and grad along x and y
    bool periodic_z = false;      ///< no walls; z_nodes must then be uniform
  };

  /// Allocates everything that solve() needs. `comm` and the exchanges for rows and columns must outlive the solver.
  /// Throws Error(internal) if the domain does not fit the decomposition. Collective.
  PoissonSolver(const Communicator& comm, const Decomposition& decomposition, const Domain& domain,
                TridiagonalMethod method, const ExchangeSet& exchanges);
  /// Memory of such a solver on one rank, and of a field of make_field(). Local.
  static MemoryNeed memory(const Decomposition& decomposition, int rank, TridiagonalMethod method,
                           bool periodic_z = false);
  static double field_memory(const Decomposition& decomposition, int rank, Order order);
  /// Work memory of such a solver's transforms on one rank, in bytes: 0 unless this build has cuFFT or hipFFT do them.
  /// Needs the GPU of a GPU build. Local.
  static double transform_memory(const Decomposition& decomposition, int rank, Order order);
  PoissonSolver(PoissonSolver&&) noexcept;
  PoissonSolver& operator=(PoissonSolver&&) noexcept;
  ~PoissonSolver();

  /// Row length of the solver's fields: 2 (nx / 2 + 1) for the in-place transform, rounded up so that rows stay aligned
  /// to 64 bytes. GPUs round up only rows of more than 2048 cells that our own kernels transform: cuFFT is faster
  /// without gaps between rows.
  static std::int64_t row_length(std::int64_t nx);

  /// Halo of the solver's fields: what a gradient of this order reads.
  static HaloWidth halo(Order order) { return {points_beside(order), 1}; }

  /// A zero field for solve(): the rank's x pencil at centres, with rows of row_length(nx).
  Field make_field() const;

  /// In: the right-hand side at centres, in a field like that of make_field(); no halo is read. Out: the solution in
  /// its place, with a volume-weighted mean of 0 (the singular mode). Halos and padding are stale on return.
  /// Collective.
  ///
  /// The right-hand side must have mean 0 to round-off, like the divergence of a velocity that does not cross the
  /// walls. Otherwise there is no solution, and the result is the one for a uniform flux through the top wall.
  void solve(Field& phi, PhaseTimers& timers);

  /// The same for the right-hand side div u* / (gamma dt), which the transform along x forms from u* if
  /// forms_divergence() is true; otherwise a separate sweep first writes it to phi. phi is only written; u* is in other
  /// arrays, with rows of even length on a GPU. Collective.
  void solve(VelocityDivergence& divergence, Field& phi, PhaseTimers& timers);
  /// Whether the transform along x forms the divergence, for rows of nx cells, so that it is not stored.
  static bool forms_divergence(std::int64_t nx, Order order);

  /// What one solve moves, for a right-hand side that is stored, or with `divergence` for div u* of this order.
  /// `cells`: of the grid. `lines`: how those along z are solved. Local.
  static PhaseWords words(const std::array<std::int64_t, 3>& cells, const ProcessGrid& processes, LineStrategy lines,
                          std::optional<Order> divergence = {});

  /// Unscaled coefficients with y whole: `values` are those of `box`, the rank's part of (nx / 2 + 1) x ny x nz global
  /// indices, valid until the next call.
  struct Coefficients {
    View3<std::complex<real>> values;
    Box3 box;
  };
  /// The forward transforms of solve() alone, for spectra: transform_x() transforms a field like those of make_field()
  /// along x and overwrites it; transform_y() then transforms the result along y. Collective.
  Coefficients transform_x(Field& field, PhaseTimers& timers);
  /// The same for a field that holds coefficients along x already: makes y whole. Collective.
  Coefficients coefficients(Field& field, PhaseTimers& timers);
  Coefficients transform_y(Field& field, PhaseTimers& timers);

  /// The transforms and lines, for other solvers of the same fields.
  SpectralSolver& spectral();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sluice
