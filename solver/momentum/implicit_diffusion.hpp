#pragma once
#include <vector>

#include "model/parameters.hpp"
#include "poisson/helmholtz_solver.hpp"
#include "poisson/tridiagonal/line_plan.hpp"
#include "solver/grid/grid.hpp"
#include "solver/state/state.hpp"
#include "solver/walls/walls.hpp"

namespace sluice {

/// The implicit half of Crank-Nicolson diffusion along z, the left-hand side of eq. (5), for all three components.
class ImplicitDiffusion {
  static constexpr int components = 3;

 public:
  ImplicitDiffusion(const Communicator& comm, const Decomposition& decomposition, const Grid& grid, const Walls& walls,
                    TridiagonalMethod method, Exchange& exchange);
  static MemoryNeed memory(const Decomposition& decomposition, int rank, TridiagonalMethod method) {
    return ZHelmholtzSolver::memory(decomposition, rank, components, method);
  }
  /// Words per cell that solve() reads and writes.
  static constexpr int words(LineStrategy lines) { return components * words_of(lines); }

  /// Prepares (1 - c Lz) for c = gamma dt nu/2. Local.
  void prepare(double c);
  /// star: right-hand side of eq. (5) on entry, u* on return; halos are neither read nor written. Collective.
  void solve(VectorField& star);
  /// g = (1 - c Lz)^-1 1 with u's homogeneous wall rows: the response of u* to a uniform force. Global profile, equal
  /// on all ranks.
  std::vector<double> response_to_uniform_force() const;

 private:
  void add_wall_values(Field& f) const;

  const Grid* grid_;
  const Walls* walls_;
  double c_ = 0;
  static constexpr std::size_t at_centers = 0, at_faces = 1;  ///< matrices: of u and v, of w
  ZHelmholtzSolver solver_;
};

}  // namespace sluice
