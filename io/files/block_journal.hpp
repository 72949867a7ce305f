#pragma once
// FILE.journal: the newest blocks of statistics.h5 or a file like it, as long as the file itself does not hold them.
// Appending a block here costs the same however many there are; the file is written as a whole (statistics_file.hpp
// says when), and then the journal is removed. It names the file that it continues by the hash of its metadata, which
// here covers all of it. So a new file makes the journal void by the same rename that replaces the old file, and a kill
// between rename and removal leaves nothing that a reader could take twice.
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
#include <vector>

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
  std::vector<std::size_t> order_;    ///< numbers of the profiles in order of their names
  std::vector<std::size_t> lengths_;  ///< by number
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
  /// that holds all that the journal held.
  explicit StoredJournal(const std::string& file);

  /// Its blocks; none if it continues another file than that with `count` blocks which is there now.
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

}  // namespace sluice::io
