#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/decomposition.hpp"
#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/field.hpp"
#include "core/decomp/memory_need.hpp"
#include "core/device/timers.hpp"
#include "core/stencil/tridiagonal_method.hpp"
#include "poisson/tridiagonal/tridiagonal_rows.hpp"

namespace sluice {

class PoissonSolver;

/// Solves (1 - c L) x = rhs, where L is the sum of the second differences along x, y and z: implicit diffusion in all
/// directions. Uses the transforms of a PoissonSolver, and differences along x and y of the same order. c may change at
/// every substep. The result is the same on every process grid: bitwise in a CPU build, to round-off on several GPUs.
class HelmholtzSolver {
 public:
  /// One matrix Lz or several. If the domain of `poisson` is periodic along z, each must be that of cell centres
  /// between walls without flux; the solver makes it periodic. `poisson` must outlive the solver. Collective.
  HelmholtzSolver(PoissonSolver& poisson, std::vector<TridiagonalRows> second_derivatives);
  /// Memory of such a solver on one rank. Local.
  static MemoryNeed memory(const Decomposition& decomposition, int rank, int matrices, TridiagonalMethod method,
                           bool periodic_z);
  HelmholtzSolver(HelmholtzSolver&&) noexcept;
  HelmholtzSolver& operator=(HelmholtzSolver&&) noexcept;
  ~HelmholtzSolver();

  /// Sets c > 0. No communication; does not wait for the loops.
  void prepare(double c);

  /// In: the right-hand side, in a field like those of PoissonSolver::make_field(); out: the solution, in place.
  /// matrix: the number of Lz. Neither halos nor padding are read; they are stale on return. Collective.
  void solve(Field& x, std::size_t matrix, PhaseTimers& timers);

  /// Solves the system of the first matrix for a global profile of nz values that is uniform along x and y, identically
  /// on every rank. Local, on the host.
  std::vector<double> solve_profile(const std::vector<double>& rhs) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Solves (1 - c Lz) x = rhs along z for every (x, y) of fields: implicit diffusion along z, eq. (5). c may change at
/// every substep. The result is the same on every process grid: bitwise in a CPU build, to round-off on GPUs that split
/// z.
class ZHelmholtzSolver {
 public:
  /// A field and the number of its matrix Lz.
  struct Task {
    Field* field;
    std::size_t matrix;
  };

  /// For one matrix or several, and for `fields` fields that are solved together: GPUs that split z then exchange the
  /// boundary values of all at once. Allocates everything that prepare() and solve() need. Collective. `comm` and
  /// `exchange` must outlive the solver.
  ZHelmholtzSolver(const Communicator& comm, const Decomposition& decomposition,
                   std::vector<TridiagonalRows> second_derivatives, int fields, TridiagonalMethod method,
                   Exchange& exchange);
  /// For one matrix and one field.
  ZHelmholtzSolver(const Communicator& comm, const Decomposition& decomposition, TridiagonalRows second_derivative,
                   TridiagonalMethod method, Exchange& exchange);
  /// Memory of such a solver on one rank. Local.
  static MemoryNeed memory(const Decomposition& decomposition, int rank, int fields, TridiagonalMethod method);
  ZHelmholtzSolver(ZHelmholtzSolver&&) noexcept;
  ZHelmholtzSolver& operator=(ZHelmholtzSolver&&) noexcept;
  ~ZHelmholtzSolver();

  /// Sets c >= 0. Every rank computes the global 1-D coefficients itself; no communication.
  void prepare(double c);

  /// In: the right-hand sides; out: the solutions, in place. As many fields as the solver was made for. No halo is
  /// read; halos are stale on return. Collective.
  void solve(const std::vector<Task>& tasks);
  void solve(Field& x) { solve({{&x, 0}}); }

  /// Solves the system of the first matrix for one global profile of nz values, identically on every rank. Local, on
  /// the host.
  std::vector<double> solve_profile(const std::vector<double>& rhs) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sluice
