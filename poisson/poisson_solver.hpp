#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/decomposition.hpp"
#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/field.hpp"
#include "core/support/timers.hpp"
#include "poisson/tridiagonal_method.hpp"

namespace sluice {

/// Solves div grad(phi) = rhs, the second-order discrete operator on the staggered grid, eq. (2): periodic
/// and uniform in x and y, no flux through the walls in z. Fourier transforms in x and y, one tridiagonal
/// system along z for each pair of wavenumbers (Diez Sanhueza et al. 2025, sec. 2.2). The result is the same
/// to the bit on every process grid.
class PoissonSolver {
 public:
  struct Domain {
    double dx, dy;
    std::vector<double> z_nodes;  ///< the nz + 1 face coordinates, walls included
  };

  /// Collective; allocates everything that solve() needs. `comm` and `exchange` must outlive the solver.
  /// Throws Error(internal) if the domain does not fit the decomposition.
  PoissonSolver(const Communicator& comm, const Decomposition& decomposition, const Domain& domain,
                TridiagonalMethod method, Exchange& exchange);
  PoissonSolver(PoissonSolver&&) noexcept;
  PoissonSolver& operator=(PoissonSolver&&) noexcept;
  ~PoissonSolver();

  /// Least row length of the field for nx cells: 2 (nx / 2 + 1) for the transform in place, rounded up so
  /// that rows stay aligned to 64 bytes.
  static std::int64_t row_length(std::int64_t nx);

  /// In: the right-hand side at centres, x-pencil, rows of row_length(nx) or more (a multiple of 64 bytes);
  /// no halo is read. Out: the solution in its place, whose volume-weighted mean is 0 (the singular mode; a
  /// right-hand side with a mean other than 0 has no solution, and its mean is lost in the highest plane).
  /// Halos and padding are stale on return. Collective.
  void solve(Field& phi, PhaseTimers& timers);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sluice
