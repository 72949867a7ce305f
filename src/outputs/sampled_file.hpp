#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "io/files/statistics_file.hpp"
#include "model/accuracy.hpp"
#include "model/key_figures.hpp"
#include "model/schedule.hpp"
#include "model/statistics_block.hpp"
#include "solver/statistics/statistics.hpp"
#include "src/outputs/companions.hpp"
#include "src/run/simulation.hpp"

namespace sluice {

/// When samples are taken and their blocks end. Local.
class SamplingTimes {
 public:
  explicit SamplingTimes(const io::SamplingSpec& sampling)
      : every_(sampling.every), blocks_{sampling.block, sampling.start} {}

  bool sample_due(std::int64_t step, double time) const {
    return step % every_ == 0 && is_reached(blocks_.origin, time);
  }
  /// Whether the open block ends at or before this time; a sample that is due then is its last.
  bool block_ends(const StatisticsBlock& open, double time) const {
    return open.samples > 0 && blocks_.passed(open.time_begin, time);
  }

 private:
  std::int64_t every_;  ///< steps
  Schedule blocks_;
};

/// The coordinates and attributes of statistics.h5, spectra.h5 or densities.h5 at `path`. Local.
io::StatisticsSpec sampled_file_spec(const Simulation& simulation, const std::string& path, const SampledOutput& output,
                                     const std::vector<ProfileInfo>& profiles);

/// The parameters that a block of statistics is stored with. Local.
io::Values sampled_parameters(const io::Case& settings);

/// What statistics.h5 has beside the moments.
StatisticsContent statistics_content(const io::OutputSpec& output);

/// What the key figures of a case depend on beside its statistics. `z_face`: both walls included.
StatisticsFlow statistics_flow(const io::Case& settings, std::vector<double> z_face);

/// The accuracy of the statistics in a statistics.h5, as a run of the case finds it at the end of a block: from the
/// last blocks that were sampled under the parameters of the case. Without such blocks, Accuracy::blocks is 0. Local.
/// Throws Error(restart).
Accuracy stored_accuracy(const std::string& file, const io::Case& settings);

}  // namespace sluice
