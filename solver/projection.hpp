#pragma once
#include "core/decomp/halo_exchange.hpp"
#include "core/device/deferred.hpp"
#include "core/device/timers.hpp"
#include "core/support/exact_sum.hpp"
#include "poisson/poisson_solver.hpp"
#include "solver/grid/grid.hpp"
#include "solver/state/state.hpp"
#include "solver/walls/walls.hpp"

namespace sluice {

/// Makes a velocity field divergence-free: eqs. (2), (3) and (6).
class Projection {
 public:
  Projection(const Communicator& comm, const Decomposition& decomposition, const Grid& grid, const Metrics& metrics,
             const Walls& walls, HaloExchange& halo, TridiagonalMethod method, const ExchangeSet& exchanges);

  /// A field that solve() takes as phi.
  Field make_phi() const { return poisson_.make_field(); }

  /// phi from lap phi = div u* / gamma_dt. Reads u* without halos (fills those it needs); leaves phi with valid halos,
  /// walls included. phi: from make_phi(). On the way it sums what u_star_sum()
  /// gives.
  void solve(VectorField& star, double gamma_dt, Field& phi, PhaseTimers& timers);

  /// Sum of weighted_by_height of the u* last given to solve() over the rank's cells: its share of the mean.
  const Deferred<ExactSum>& u_star_sum() const { return u_star_sum_; }

  /// What a force that is uniform in x and y adds to u*: factor response(z), a device array over the rank's planes.
  struct UniformForce {
    double factor;
    const real* response;
  };

  /// u = u* + factor response(z) e_x - gamma_dt grad phi, in place; reads phi's halo. Halos of u are stale on return.
  /// On the way it finds what largest_rate() gives.
  void correct(VectorField& star, const Field& phi, const UniformForce& force, double gamma_dt);

  /// The same, and p = p + phi - half_nu_gamma_dt Lz phi in the same sweep. Halos of p are stale on return.
  void correct(VectorField& star, Field& p, const Field& phi, const UniformForce& force, double gamma_dt,
               double half_nu_gamma_dt);

  /// The largest advective rate in the rank's cells of the u last left by correct(); see time_step_limit.hpp.
  const Deferred<double>& largest_rate() const { return largest_rate_; }

 private:
  Box3 box_;
  Metrics metrics_;
  const Walls* walls_;
  HaloExchange* halo_;
  PoissonSolver poisson_;
  Deferred<ExactSum> u_star_sum_;
  Deferred<double> largest_rate_;
};

}  // namespace sluice
