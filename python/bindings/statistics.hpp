#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/files/values.hpp"
#include "model/statistics_block.hpp"
#include "solver/statistics/statistics.hpp"
#include "src/outputs/sampled_file.hpp"
#include "src/run/simulation.hpp"

namespace sluice::python {

/// Statistics of a simulation, sampled as the keys of output.statistics say and kept in host memory, on every rank. It
/// samples what statistics.h5 holds, and needs no output directory.
class MemoryStatistics {
 public:
  /// All samples so far.
  struct Samples {
    std::vector<std::shared_ptr<const StatisticsBlock>> closed;
    StatisticsBlock open;
  };

  /// `simulation` must outlive this object. Local.
  explicit MemoryStatistics(Simulation& simulation);

  /// After each step: takes a sample if one is due. Collective.
  void after_step();
  /// Takes a sample of the flow as it is. Needs valid halos. Collective.
  void sample();

  const Samples& samples();
  /// Goes on from samples of an alike simulation; without samples if those have other profiles.
  void set(const Samples& samples);
  void reset();

  /// The number of samples.
  std::int64_t count() const;
  /// The means over all samples of the profiles that have one value for each height.
  std::map<std::string, std::vector<double>> means() const;
  /// Writes a statistics.h5 of the complete blocks; `unfinished`: with the open block, too. Throws Error(usage) if
  /// there are no blocks, Error(io). Local.
  void write(const std::string& path, bool unfinished) const;

 private:
  void close_if_due();
  std::vector<const StatisticsBlock*> blocks(bool unfinished) const;

  Simulation& simulation_;
  const io::SamplingSpec& sampling_;
  SamplingTimes times_;
  Statistics sums_;
  Samples kept_;  ///< `open` is that of sums_ at the last call of samples()
};

}  // namespace sluice::python
