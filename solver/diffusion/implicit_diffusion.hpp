#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/stencil/order.hpp"
#include "core/support/phases.hpp"
#include "model/field_descriptor.hpp"
#include "poisson/helmholtz_solver.hpp"
#include "poisson/tridiagonal/line_plan.hpp"
#include "solver/diffusion/uniform_response.hpp"
#include "solver/grid/grid.hpp"
#include "solver/walls/walls.hpp"

namespace sluice {

class PoissonSolver;

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
  const Grid* grid_;
  const Walls* walls_;
  std::vector<FieldDescriptor> fields_;
  std::vector<std::size_t> matrix_of_;  ///< by field
  ZHelmholtzSolver solver_;
};

/// Crank-Nicolson diffusion along x, y and z, eq. (5a), of fields with one diffusivity: the velocity, or one scalar.
/// The other terms are in u* or c* already.
class DiffusionInAllDirections {
 public:
  /// `grid`, `walls` and `poisson`, whose transforms it uses, must outlive it. Collective.
  DiffusionInAllDirections(const Grid& grid, const Metrics& metrics, const Walls& walls, Order order, bool periodic_z,
                           std::vector<FieldDescriptor> fields, PoissonSolver& poisson);
  /// Memory for the velocity, or for one scalar, on one rank. Local.
  static MemoryNeed memory(const Decomposition& decomposition, int rank, bool velocity, TridiagonalMethod method,
                           bool periodic_z);
  /// What solve() moves for this number of fields.
  static PhaseWords words(const std::array<std::int64_t, 3>& cells, const ProcessGrid& processes, LineStrategy lines,
                          int fields);

  /// old: the fields at the start of the substep, with valid halos. stars: on entry what the other terms give, on
  /// return u* or c*; halos are neither read nor written. As many of each as the descriptors, in their order. c: gamma
  /// dt times half the diffusivity. work: a field like those of PoissonSolver::make_field(); overwritten. Collective.
  void solve(const std::vector<const Field*>& old, const std::vector<Field*>& stars, double c, Field& work,
             PhaseTimers& timers);
  /// Sets g = (1 - c Lz)^-1 1, with the c of the last solve and homogeneous wall conditions of the first field. Local.
  void find(UniformResponse& response) const;

 private:
  const Grid* grid_;
  Metrics metrics_;
  const Walls* walls_;
  Order order_;
  bool periodic_z_;
  std::vector<FieldDescriptor> fields_;
  std::vector<std::size_t> matrix_of_;  ///< by field
  HelmholtzSolver solver_;
};

}  // namespace sluice
