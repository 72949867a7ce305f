#pragma once
#include <vector>

#include "model/field_descriptor.hpp"
#include "poisson/helmholtz_solver.hpp"
#include "solver/grid/grid.hpp"
#include "solver/walls/walls.hpp"

namespace sluice {

/// The implicit half of Crank-Nicolson diffusion along z of one scalar: (1 - c Lz) c* = right-hand side, as eq. (5).
class ScalarDiffusion {
 public:
  /// `grid`, `walls` and the exchange must outlive it.
  ScalarDiffusion(const Communicator& comm, const Decomposition& decomposition, const Grid& grid, const Walls& walls,
                  const FieldDescriptor& scalar, TridiagonalMethod method, Exchange& exchange);
  static MemoryNeed memory(const Decomposition& decomposition, int rank, TridiagonalMethod method) {
    return ZHelmholtzSolver::memory(decomposition, rank, 1, method);
  }

  /// star: the right-hand side on entry, c* on return; halos are neither read nor written. c = gamma dt kappa/2.
  /// Collective.
  void solve(Field& star, double c);
  /// g = (1 - c Lz)^-1 1 with homogeneous walls, for the c of the last solve: the response of c* to a uniform source.
  /// Global profile, equal on all ranks.
  std::vector<double> response_to_uniform_source() const;

 private:
  const Grid* grid_;
  const Walls* walls_;
  FieldDescriptor scalar_;
  ZHelmholtzSolver solver_;
};

}  // namespace sluice
