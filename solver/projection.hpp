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
             const Walls& walls, HaloExchange& halo, const FlowParameters& flow, const ExchangeSet& exchanges);

  /// Makes a field that solve() accepts as phi.
  Field make_phi() const { return poisson_.make_field(); }
  /// For its transforms of fields like phi.
  PoissonSolver& poisson() { return poisson_; }

  /// Solves lap phi = div u* / gamma_dt. u* needs no valid halos: solve() fills those it reads. Leaves phi with
  /// valid halos, walls included; of order 4, all but the second row below in y, which nobody reads. phi: from
  /// make_phi(). Also forms the sums that u_star_sum() and v_star_sum() return.
  void solve(VectorField& star, double gamma_dt, Field& phi, PhaseTimers& timers);

  /// Sum over the rank's cells of weighted_by_height of the u* last passed to solve(): its share of the mean.
  const Deferred<ExactSum>& u_star_sum() const { return u_star_sum_; }

  /// The same of v*; only if the flow has a forcing along y.
  const Deferred<ExactSum>& v_star_sum() const { return v_star_sum_; }

  /// A force that is uniform in x and y adds x response(z) to u* and y response(z) to v*; response: device array over
  /// the rank's planes. y: 0 unless the flow has a forcing along y.
  struct UniformForce {
    double x, y;
    const real* response;
  };

  /// u = u* + (x, y, 0) response(z) - gamma_dt grad phi, in place; reads phi's halo. Halos of u are stale on return.
  /// Also forms the maximum that largest_rate() returns.
  void correct(VectorField& star, const Field& phi, const UniformForce& force, double gamma_dt);

  /// The same, with p = p + phi - half_nu_gamma_dt Lz phi in the same sweep. Halos of p are stale on return.
  void correct(VectorField& star, Field& p, const Field& phi, const UniformForce& force, double gamma_dt,
               double half_nu_gamma_dt);

  /// Largest advective rate over the rank's cells of the u that correct() last left; see time_step_limit.hpp.
  const Deferred<double>& largest_rate() const { return largest_rate_; }

 private:
  Box3 box_;
  Metrics metrics_;
  const Walls* walls_;
  HaloExchange* halo_;
  Order order_;
  bool spanwise_;  ///< whether the flow has a forcing along y
  PoissonSolver poisson_;
  Deferred<ExactSum> u_star_sum_;
  Deferred<ExactSum> v_star_sum_;
  Deferred<double> largest_rate_;
};

}  // namespace sluice
