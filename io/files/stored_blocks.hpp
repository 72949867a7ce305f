#pragma once
// The blocks of statistics.h5 and files like it, as they are on disk: in the file, and in its journal.
//
// FILE.journal has the newest blocks as long as the file itself does not hold them.
// Appending a block here costs the same however many there are; the file is written as a whole (statistics_file.hpp
// says when), and then the journal is removed. The journal names the file that it continues by the hash of the
// file's metadata, which here covers the whole file. So a new file makes the journal void by the same rename that
// replaces the old file, and a kill between rename and removal leaves nothing that a reader could take twice.
//
// The journal consists of 64-bit words in the machine's byte order:
//
//   "SluiceJL", version 1, hash of the file, number of its blocks, words of a record, hash of these five words;
//   records: samples, time_begin, time_end, step_end, forcing, the sums of all profiles in order of their names, and
//   byte_hash of these words, chained onto the hash before.
//
// A record at the end that is incomplete or does not have its hash was not committed; readers pass over it.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/files/hdf5.hpp"
#include "io/files/posix_file.hpp"
#include "model/statistics_block.hpp"

namespace sluice::io {

std::string journal_path(const std::string& file);

/// Where the sums of a block are in a record.
class RecordLayout {
 public:
  /// `lengths`: number of values of each profile.
  RecordLayout(const std::vector<ProfileInfo>& profiles, std::vector<std::size_t> lengths);

  std::size_t words() const { return words_; }
  /// A record without its hash, from a block; and back, without a parameter set.
  std::vector<std::uint64_t> record(const StatisticsBlock& block) const;
  StatisticsBlock block(const std::uint64_t* record) const;

 private:
  std::vector<std::size_t> order_;    ///< indices of the profiles in order of their names
  std::vector<std::size_t> lengths_;  ///< by index
  std::size_t words_;
};

/// The journal of a file, open for appending. Local; rank 0 only. Throws Error(io).
class BlockJournal {
 public:
  /// Begins a new one, in place of any other. `count`: blocks of the file.
  BlockJournal(const std::string& file, std::size_t count, RecordLayout layout);

  /// Returns when the block is on disk. After an error the journal must not be used any more.
  void append(const StatisticsBlock& block);
  std::size_t blocks() const { return blocks_; }
  PosixFile::Place place() const { return file_.place(); }
  void require_in_place() const { file_.require_in_place(); }

 private:
  RecordLayout layout_;
  PosixFile file_;
  std::uint64_t hash_ = 0;
  std::size_t blocks_ = 0;
};

/// The journal of a file as it is on disk. Local. Throws Error(restart) if it is damaged.
class StoredJournal {
 public:
  /// Reads the journal, if there is one. To be called before the file is opened: if a run replaces the file meanwhile,
  /// the new file holds all that the journal held.
  explicit StoredJournal(const std::string& file);

  /// Its blocks; none unless it continues the present file, which has `count` blocks.
  std::vector<StatisticsBlock> blocks(std::size_t count, const RecordLayout& layout) const;
  /// Whether it ends in a record that was not committed, as a kill leaves it.
  bool is_cut_off(std::size_t count, const RecordLayout& layout) const;

 private:
  struct Records {
    const std::uint64_t* first = nullptr;
    std::size_t count = 0;
    bool cut_off = false;
  };
  Records records(std::size_t count, const RecordLayout& layout) const;

  std::string path_;
  std::vector<std::uint64_t> words_;  ///< empty unless it continues the file
  bool whole_words_ = true;
};

inline constexpr const char* parameter_set = "/parameter_set";

/// The datasets with one number for each block: calls action(path, member, long_name) for each.
void for_each_column(const auto& action) {
  using Block = StatisticsBlock;
  action("/samples", &Block::samples, "number of samples");
  action("/t_begin", &Block::time_begin, "time at which the block begins");
  action("/t_end", &Block::time_end, "time at which the block ends");
  action("/step_end", &Block::step_end, "step at which the block ends");
  action("/forcing", &Block::forcing, "sum over the samples of the mean streamwise force");
  action(parameter_set, &Block::parameter_set, "number of the parameters of the flow that was sampled");
}

/// The blocks of a file, without sums. `sets`: with their parameter sets. Local. Throws Error(restart).
std::vector<StatisticsBlock> read_columns(const h5::File& file, bool sets);
/// Adds the sums of one more profile to each block. Local. Throws Error(restart).
void read_sums(const h5::File& file, const std::string& profile, std::vector<StatisticsBlock>& blocks);

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
