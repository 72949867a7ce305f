#pragma once
// Solvers with which P-TDMA is compared, made of the parts of ours: they differ in what is exchanged, and so in which
// lines are whole and how these are solved.
#include <memory>
#include <optional>
#include <vector>

#include "core/decomp/transpose.hpp"
#include "poisson/helmholtz_lines.hpp"
#include "poisson/poisson_solver.hpp"

namespace sluice {

/// The full-transpose method from z pencils, the baseline of Diez Sanhueza et al. 2025, sec. 2.2 and fig. 2. Fields are
/// stored with z whole, x split in pz and y in py. Implicit diffusion along z then exchanges nothing.
///
/// The paper goes from z to x pencils directly or through y pencils. Here it is always one transpose within the columns
/// of the process grid, because x pencils split y in py too. Through y pencils would take another one within rows.
class FullTransposeSolver {
 public:
  /// second_derivatives: Lz of the diffusion problems; fields: how many are solved together. `comm` and the exchanges
  /// must outlive the solver. Collective.
  FullTransposeSolver(const Communicator& comm, const Decomposition& decomposition, const PoissonSolver::Domain& domain,
                      std::vector<TridiagonalRows> second_derivatives, int fields, const ExchangeSet& exchanges);

  /// This rank's part of all fields.
  const Box3& z_pencil() const { return z_pencil_; }

  /// The array of solve_poisson(): on z_pencil(), at centres, zeroed at first.
  View3<real> phi();
  /// div grad(phi) = rhs. In: the right-hand side in phi(); out: the solution there. Otherwise as
  /// PoissonSolver::solve(). Collective.
  void solve_poisson(PhaseTimers& timers);

  /// Sets c >= 0. No communication.
  void prepare(double c) { diffusion_.prepare(c); }
  /// (1 - c Lz) x = rhs for arrays on z_pencil(), in place. Local.
  void solve_diffusion(const std::vector<HelmholtzLines::Task>& tasks) { diffusion_.solve(tasks); }

 private:
  Box3 z_pencil_;
  PoissonSolver poisson_;  ///< from x pencils
  Field phi_;              ///< in an x pencil; the same as the z pencil if pz = 1
  std::optional<Transpose<real>> to_z_;
  Communicator self_;  ///< the process grid of lines that are not split
  HelmholtzLines diffusion_;
};

/// Implicit diffusion along z of fields in x pencils through y pencils, app. B of the same paper (x-y-z): whole fields
/// are transposed to y pencils and back, and only there are lines solved, by P-TDMA or transposes between y and z
/// pencils. ZHelmholtzSolver solves them in x pencils (x-z).
class DiffusionThroughY {
 public:
  /// For `fields` fields that are solved together. `comm` and the exchanges must outlive the solver. Collective.
  DiffusionThroughY(const Communicator& comm, const Decomposition& decomposition,
                    std::vector<TridiagonalRows> second_derivatives, int fields, TridiagonalMethod method,
                    const ExchangeSet& exchanges);

  /// Sets c >= 0. No communication.
  void prepare(double c) { lines_.prepare(c); }
  /// In: the right-hand sides on this rank's x pencil; out: the solutions, in place. As many as the solver was made
  /// for. Collective.
  void solve(const std::vector<HelmholtzLines::Task>& tasks);

 private:
  std::vector<std::unique_ptr<Transpose<real>>> to_y_;  ///< of each field; none if py = 1
  HelmholtzLines lines_;
};

}  // namespace sluice
