#pragma once
#include <cstddef>
#include <vector>

#include "model/field_descriptor.hpp"
#include "poisson/helmholtz_solver.hpp"
#include "poisson/tridiagonal/line_plan.hpp"
#include "solver/diffusion/uniform_response.hpp"
#include "solver/grid/grid.hpp"
#include "solver/walls/walls.hpp"

namespace sluice {

/// The implicit half of Crank-Nicolson diffusion along z, the left-hand side of eq. (5), of fields with one
/// diffusivity: the velocity, or one scalar.
class ImplicitDiffusion {
 public:
  /// `grid`, `walls` and the exchange must outlive it. Collective.
  ImplicitDiffusion(const Communicator& comm, const Decomposition& decomposition, const Grid& grid, const Walls& walls,
                    std::vector<FieldDescriptor> fields, TridiagonalMethod method, Exchange& exchange);
  /// Memory for this number of fields on any rank. Local.
  static MemoryNeed memory(const Decomposition& decomposition, int rank, int fields, TridiagonalMethod method) {
    return ZHelmholtzSolver::memory(decomposition, rank, fields, method);
  }
  /// Words per cell that solve() reads and writes for this number of fields.
  static constexpr int words(LineStrategy lines, int fields) { return fields * words_of(lines); }

  /// stars: the right-hand sides of eq. (5) on entry, u* or c* on return; halos are neither read nor written. As many
  /// as the descriptors, in their order. c: gamma dt times half the diffusivity. Collective.
  void solve(const std::vector<Field*>& stars, double c);
  /// Sets g = (1 - c Lz)^-1 1, with the c of the last solve and homogeneous wall conditions of the first field. Local.
  void find(UniformResponse& response) const;

 private:
  void add_wall_values(const FieldDescriptor& descriptor, Field& f, double c) const;

  const Grid* grid_;
  const Walls* walls_;
  std::vector<FieldDescriptor> fields_;
  std::vector<std::size_t> matrix_of_;  ///< by field
  ZHelmholtzSolver solver_;
};

}  // namespace sluice
