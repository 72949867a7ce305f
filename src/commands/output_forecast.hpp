#pragma once
// How long the output of a run takes beside its steps.
#include "io/case/case.hpp"
#include "solver/grid/grid.hpp"
#include "src/commands/run_forecast.hpp"

namespace sluice {

struct OutputTime {
  double samples = 0;      ///< seconds of sampling and of the time series
  double blocks = 0;       ///< of writing blocks of statistics, spectra and densities
  double checkpoints = 0;  ///< of writing them
  double others = 0;       ///< of writing slices, fields, probes and time series

  double total() const { return samples + blocks + checkpoints + others; }
};

/// `step`: seconds of a step. Rough: samples as measured in docs/performance.md, files on a local disk.
OutputTime expected_output(const io::Case& settings, const Grid& grid, const RunLength& length, double step);

}  // namespace sluice
