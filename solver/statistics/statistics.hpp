#pragma once
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "solver/grid/grid.hpp"
#include "solver/state/flow_parameters.hpp"
#include "solver/state/state.hpp"
#include "solver/walls/walls.hpp"

namespace sluice {

/// One horizontally averaged quantity: its name in files, what it is, and whether it lives at the nz centres or the nz
/// + 1 faces.
struct ProfileInfo {
  std::string name;
  std::string long_name;
  bool at_faces = false;
};

/// Sums of horizontal averages over the samples of one block of time, on every rank alike.
struct StatisticsBlock {
  std::int64_t samples = 0;
  double time_begin = 0;                  ///< of the first sample
  double time_end = 0;                    ///< of the last sample
  double forcing = 0;                     ///< sum of the mean force
  std::vector<std::vector<double>> sums;  ///< one profile for each of Statistics::profiles()
};

/// Statistics in flight, consistent with the staggering: u and v moments where they live; moments of w at the centres
/// are the mean of those on the two faces of the cell, so that no fluctuation is lost by interpolation; uv, uw and vw
/// are the scheme's own momentum fluxes on the edges, and tau its own viscous stress, so that the total stress closes;
/// vorticity is formed on the edges and its moments are averaged to the centres in the same way.
class Statistics {
 public:
  Statistics(const Grid& grid, const Metrics& metrics, const FlowParameters& flow, const Walls& walls, const Box3& box,
             MPI_Comm comm);

  static const std::vector<ProfileInfo>& profiles();

  /// Adds one sample of the state. Needs valid halos. Collective; the same bits on every process grid.
  void sample(const State& state, double forcing);

  const StatisticsBlock& open_block() const { return block_; }
  void set_open_block(StatisticsBlock block) { block_ = std::move(block); }
  /// Hands out the open block and starts an empty one.
  StatisticsBlock close_block();

 private:
  StatisticsBlock empty_block() const;

  const Grid* grid_;
  Metrics metrics_;
  real viscosity_;
  const Walls* walls_;
  Box3 box_;
  MPI_Comm comm_;
  StatisticsBlock block_;
};

}  // namespace sluice
