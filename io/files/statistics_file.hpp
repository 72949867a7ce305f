#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/flow/statistics_block.hpp"
#include "io/files/checkpoint_format.hpp"
#include "io/files/values.hpp"

namespace sluice::io {

namespace h5 {
class File;
}

/// Everything in the file that is known before the first block.
struct StatisticsSpec {
  std::string path;
  Provenance provenance;
  Values attributes;  ///< more for the root, such as the viscosity; no lists
  std::vector<ProfileInfo> profiles;
  std::vector<double> z;       ///< centres
  std::vector<double> z_face;  ///< all faces
  /// The parameters of the flow in a resolved case: for files of version 0.1, which do not hold them block by block.
  std::function<Values(const std::string& resolved_case)> parameters_of;
};

/// statistics.h5: (block, nz) or (block, nz + 1) datasets of sums, and samples, t_begin, t_end, step_end, forcing,
/// parameter_set by block; a group parameter_set_N for each set of parameters that blocks were sampled under. The file
/// is rewritten as a whole and replaced atomically with each block; its bytes are a function of its content alone, so a
/// restarted run ends with the same file as one that ran through. For rank 0 alone; local. Throws Error(io).
class StatisticsFile {
 public:
  /// With `resume`: reads the blocks that are there; without it, or where there is no file, there are none. Changes
  /// nothing. Throws Error(restart) if the file is damaged, or holds other profiles or another grid.
  StatisticsFile(StatisticsSpec spec, bool resume);

  /// Writes the file with the blocks that ended at that step or before and began before that time; call it before the
  /// first append.
  void truncate_after(std::int64_t step, double time);
  /// `parameters`: those of the flow that was sampled. Sets the block's parameter_set.
  void append(StatisticsBlock block, const Values& parameters);

  const std::vector<StatisticsBlock>& blocks() const { return blocks_; }

 private:
  std::size_t length(const ProfileInfo& profile) const;
  void load();
  void rewrite() const;
  void write_profiles(h5::File& file) const;
  void read_profiles(const h5::File& file);

  StatisticsSpec spec_;
  std::vector<StatisticsBlock> blocks_;
  std::vector<Values> parameter_sets_;  ///< in the order in which blocks were sampled under them
};

/// Verifies each dataset of a statistics file. Local. Throws Error(restart) for the first that is damaged.
void verify_statistics(const h5::File& file);

}  // namespace sluice::io
