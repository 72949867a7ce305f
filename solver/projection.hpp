#pragma once
#include <functional>
#include <optional>

#include "core/decomp/halo_exchange.hpp"
#include "core/device/deferred.hpp"
#include "core/device/timers.hpp"
#include "core/support/exact_sum.hpp"
#include "poisson/divergence/divergence_rows.hpp"
#include "poisson/poisson_solver.hpp"
#include "solver/grid/grid.hpp"
#include "solver/state/state.hpp"
#include "solver/walls/walls.hpp"

namespace sluice {

/// Finds the phi whose gradient makes a velocity field divergence-free: eq. (2). CorrectionSweep subtracts it.
class Projection {
 public:
  Projection(const Communicator& comm, const Decomposition& decomposition, const Grid& grid, const Metrics& metrics,
             const Walls& walls, HaloExchange& halo, const FlowParameters& flow, const ExchangeSet& exchanges);
  /// On one rank. Local.
  static MemoryNeed memory(const Decomposition& decomposition, int rank, const FlowParameters& flow, bool on_gpu);
  /// What one solve moves; see PoissonSolver::words.
  static PhaseWords words(const std::array<std::int64_t, 3>& cells, const ProcessGrid& processes,
                          const FlowParameters& flow, LineStrategy lines);

  /// Makes a field that solve() accepts as phi.
  Field make_phi() const { return poisson_.make_field(); }
  /// Whether solve() can fill halos ahead: where neighbours own two planes, unless diffusion that is implicit in all
  /// directions corrects no halos.
  bool fills_ahead() const { return above_.has_value(); }
  static bool fills_ahead(const Decomposition& decomposition, const FlowParameters& flow);

  /// For its transforms of fields like phi.
  PoissonSolver& poisson() { return poisson_; }

  /// Solves lap phi = div u* / gamma_dt. u* needs no valid halos: solve() fills those it reads. Leaves phi with
  /// valid halos, walls included; of order 4, all but the second row below in y, which nobody reads. phi: from
  /// make_phi(). If `ahead` is not empty, solve() fills the z halos of these fields meanwhile, without edges, and
  /// the planes beyond those of phi. Also forms the sums that u_star_sum() and v_star_sum() return: for the host or,
  /// with `when_summed`, for the loops that this issues. solve() calls it when the loops that form the sums are issued.
  void solve(VectorField& star, double gamma_dt, Field& phi, PhaseTimers& timers,
             const HaloExchange::Fields& ahead = {}, const std::function<void()>& when_summed = {});

  /// phi in the planes beyond its halos, after solve() with fields ahead; below only with z-implicit diffusion.
  HaloExchange::PlanesBeyond beyond();

  /// Sum over the rank's cells of weighted_by_height of the u* last passed to solve(): its share of the mean.
  const DeferredSum& u_star_sum() const { return divergence_.sum_of_u; }

  /// The same of v*; only if the flow has a forcing along y.
  const DeferredSum& v_star_sum() const { return v_star_sum_; }

 private:
  Box3 box_;
  Metrics metrics_;
  const Walls* walls_;
  HaloExchange* halo_;
  Order order_;
  bool spanwise_;                       ///< whether the flow has a forcing along y
  std::optional<Field> below_, above_;  ///< phi beyond its halo planes
  PoissonSolver poisson_;
  VelocityDivergence divergence_;
  DeferredSum v_star_sum_;
};

}  // namespace sluice
