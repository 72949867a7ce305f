#pragma once
#include "core/decomp/halo_exchange.hpp"
#include "core/support/timers.hpp"
#include "poisson/poisson_solver.hpp"
#include "solver/grid.hpp"
#include "solver/state.hpp"
#include "solver/walls.hpp"

namespace sluice {

/// Makes a velocity field divergence-free: eqs. (2), (3) and (4) or (6).
class Projection {
 public:
  Projection(const Communicator& comm, const Decomposition& decomposition, const Grid& grid, const Metrics& metrics,
             const Walls& walls, HaloExchange& halo, TridiagonalMethod method, Exchange& exchange);

  /// phi from lap phi = div u* / gamma_dt. Reads u* without halos (fills those it needs); leaves phi with valid halos,
  /// walls included.
  void solve(VectorField& star, double gamma_dt, PhaseTimers& timers);

  /// u = u* + added(z) e_x - gamma_dt grad phi, in place, and p = p + phi - half_nu_gamma_dt Lz phi. `added`: device
  /// array over the rank's planes, what the forcing adds to u*. Halos of u and p are stale on return.
  void correct(VectorField& star, Field& p, const real* added, double gamma_dt, double half_nu_gamma_dt) const;

  const Field& phi() const { return phi_; }
  std::size_t bytes() const { return phi_.bytes(); }

 private:
  Metrics metrics_;
  const Walls* walls_;
  HaloExchange* halo_;
  Field phi_;
  PoissonSolver poisson_;
};

}  // namespace sluice
