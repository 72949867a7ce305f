#pragma once
#include <mpi.h>

#include <vector>

#include "core/flow/parameters.hpp"
#include "solver/grid/grid.hpp"
#include "solver/state/state.hpp"
#include "solver/statistics/block_sums.hpp"
#include "solver/statistics/plane_means.hpp"

namespace sluice {

/// Running statistics: sums over the samples of one block of the horizontal averages listed in flow_profiles.hpp and,
/// if wanted, of those that budgets need, in budget_profiles.hpp; on every rank.
class Statistics : public BlockSums {
 public:
  Statistics(const Grid& grid, const Metrics& metrics, const FlowParameters& flow, const Walls& walls, const Box3& box,
             bool budgets, MPI_Comm comm);

  /// Adds one sample of the state. Needs valid halos. Collective; the same bits on every process grid.
  void sample(const State& state, double forcing);

 private:
  using Profiles = PlaneMeans::Profiles;

  /// Issues the plane means of a table's profiles over the whole height.
  template <class Table>
  void issue(const Table& table);
  template <Order order>
  void issue_flow(const State& state);
  /// Issues what the budget of uw needs beside StressFaceProfiles.
  template <Order order>
  void issue_stress_of_u(const State& state);
  /// Adds it, the last of the means, to the profiles of the budget of uw.
  static void combine_stress(Profiles& means);

  Metrics metrics_;
  real viscosity_;
  Order order_;
  PlaneMeans means_;
  bool budgets_;
};

}  // namespace sluice
