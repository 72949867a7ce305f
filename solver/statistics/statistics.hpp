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

  /// The plane means of a table's profiles over the whole height. Collective.
  template <class Table>
  Profiles plane_means(const Table& table) const;
  /// The profiles of the budget of uw. Collective.
  template <Order order>
  Profiles stress_budget(const State& state) const;
  /// Adds profiles to the open block's sums, starting at number `first`. Returns the number after the last.
  std::size_t add(const Profiles& means, std::size_t first);

  Metrics metrics_;
  real viscosity_;
  Order order_;
  PlaneMeans means_;
  bool budgets_;
};

}  // namespace sluice
