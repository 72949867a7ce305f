#pragma once
#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

#include "model/parameters.hpp"
#include "model/schedule.hpp"
#include "solver/grid/grid.hpp"
#include "solver/state/state.hpp"
#include "solver/statistics/block_sums.hpp"
#include "solver/statistics/plane_means.hpp"

namespace sluice {

/// What is sampled beside the moments of the flow and its scalars.
struct StatisticsContent {
  bool budgets = false;  ///< what budgets need
  PhaseBins phases{};    ///< the moments by phase
};

/// Running statistics: sums over the samples of one block of the horizontal averages listed in flow_profiles.hpp and,
/// if wanted, of those that budgets need, in budget_profiles.hpp and scalar_budget_profiles.hpp; on every rank.
class Statistics : public BlockSums {
 public:
  Statistics(const Grid& grid, const Metrics& metrics, const FlowParameters& flow, const Walls& walls, const Box3& box,
             const StatisticsContent& content, MPI_Comm comm);

  /// What is summed.
  static std::vector<ProfileInfo> list(const StatisticsContent& content, const FlowParameters& flow);
  /// Size of a block on a grid of nx x ny x nz cells, in bytes.
  static double block_bytes(const std::array<std::int64_t, 3>& cells, const StatisticsContent& content,
                            const FlowParameters& flow);

  /// Adds one sample of the state. Needs valid halos. Collective; the same bits on every process grid.
  void sample(const State& state, double forcing);

 private:
  using Profiles = PlaneMeans::Profiles;

  /// Issues the plane means of a table over the whole height: those of the profiles from number `first` on.
  template <class Table>
  void issue(const Table& table, std::size_t first);
  /// The same for two tables in one loop.
  template <class First, class Second>
  void issue(const First& first_table, std::size_t first, const Second& second_table, std::size_t second);
  template <class Table>
  void issue_means(const Table& table);
  void number(std::size_t first, int count);
  template <Order order>
  void issue_flow(const State& state);
  /// Issues the profiles of scalar `number`. `next`: number of its first profile, advanced past its last.
  template <Order order>
  void issue_scalar(const State& state, std::size_t number, std::size_t& next);
  /// Issues what the budgets of uw and of the fluxes of scalars along z need beside the tables at faces.
  template <Order order>
  void issue_terms_in_cells(const State& state);
  /// Adds the terms in cells, the last of the means, to the profiles of these budgets and removes them from the means.
  void add_terms_in_cells(Profiles& means) const;

  /// Adds the plane means that were issued to the sums by phase.
  void add_to_phase(const Profiles& means, double time, double forcing);

  Metrics metrics_;
  real viscosity_;
  FlowParameters flow_;
  PlaneMeans means_;
  bool budgets_;
  PhaseBins phases_;
  std::vector<std::size_t> issued_;        ///< numbers of the profiles whose means have been issued
  std::vector<std::size_t> first_fluxes_;  ///< of these, of each scalar, the first of ScalarFluxFaceProfiles
};

}  // namespace sluice
