#pragma once
#include <string>
#include <vector>

#include "io/files/slice_series.hpp"
#include "src/run/simulation.hpp"

namespace sluice {

/// The slices of a run: snapshots of planes of cells, each field on its own points of those cells, none interpolated. A
/// plane is the one whose centres lie nearest to the coordinate asked for.
class Slices {
 public:
  /// Removes snapshots of later steps than the state's, all of them at step 0. Collective. Throws Error(io).
  Slices(const Simulation& simulation, const std::string& directory);

  /// Writes those that are due in (before, time of the state]. Collective. Throws Error(io).
  void write_due(double before);

 private:
  void write(std::size_t number);

  const Simulation* simulation_;
  std::vector<io::SliceSeries> series_;  ///< on rank 0
};

}  // namespace sluice
