#pragma once
// The blocks of statistics.h5 and files like it, as they are on disk.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "io/files/hdf5.hpp"
#include "model/statistics_block.hpp"

namespace sluice::io {

/// The datasets with one number for each block: calls action(path, member, long_name) for each.
void for_each_column(const auto& action) {
  using Block = StatisticsBlock;
  action("/samples", &Block::samples, "number of samples");
  action("/t_begin", &Block::time_begin, "time at which the block begins");
  action("/t_end", &Block::time_end, "time at which the block ends");
  action("/step_end", &Block::step_end, "step at which the block ends");
  action("/forcing", &Block::forcing, "sum over the samples of the mean streamwise force");
  action("/parameter_set", &Block::parameter_set, "number of the parameters of the flow that was sampled");
}

/// The names of the objects in the root of such files, beside the profiles.
std::vector<std::string> statistics_names();
/// Whether a name is that of a group parameter_set_N.
bool names_parameter_set(const std::string& name);

/// All closed blocks: those of the file, then those of its journal.
struct StoredBlocks {
  std::vector<ProfileInfo> profiles;  ///< in order of name, with nothing but their names
  std::vector<StatisticsBlock> blocks;
  std::size_t in_journal = 0;
  bool cut_off = false;  ///< the journal ends within a block, as a kill leaves it
};

enum class Sums { skip, read };

/// `Sums::skip`: the blocks have no sums. The blocks have no parameter sets. Local. Throws Error(restart) if the file
/// or its journal is damaged.
StoredBlocks read_stored_blocks(const std::string& path, Sums sums);

/// Throws Error(restart) if a block has a negative number of samples, or more than any run can take. The sum over all
/// blocks then fits into 64 bits.
void require_possible_samples(const std::string& path, const std::vector<StatisticsBlock>& blocks);

/// A hash of a block's samples, which do not include its parameter set. `profiles`: what its sums are.
std::int64_t hash_of(const StatisticsBlock& block, const std::vector<ProfileInfo>& profiles);

/// Verifies the values of the root and each dataset of a statistics file. Local. Throws Error(restart) for the first
/// that is damaged.
void verify_statistics(const h5::File& file);

}  // namespace sluice::io
