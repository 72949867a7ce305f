#pragma once
// An output directory as `sluice info` and `sluice verify` report it.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// A file, or all files of one slice or probe.
struct FileReport {
  std::string name;                   ///< within the directory
  std::string contents;               ///< such as "6 blocks up to step 12"
  std::vector<std::string> problems;  ///< damage, or disagreement with other files
  std::vector<std::string> notes;     ///< what is worth knowing, but no problem
};

struct DirectoryReport {
  std::string directory;
  std::string holder;  ///< the run that uses the directory now; empty if there is none
  std::vector<FileReport> files;
  std::string checkpoint;            ///< the newest from which a restart goes on; empty if there is none
  std::optional<std::int64_t> step;  ///< of that checkpoint: results are complete up to it
  std::optional<double> time;

  std::size_t problem_count() const;
};

/// Reads every file that a run writes, verifies each hash, and compares the files with what the checkpoints expect of
/// them. Changes nothing and takes no lock, so that a run may be going on. Local. Throws Error(usage) if there is no
/// such directory or nothing in it is from a run.
DirectoryReport verify_directory(const std::string& directory);

/// What `sluice info DIR` prints: whether the run goes on, how far it is, which checkpoint is intact, and how to go on.
/// Reads little, and verifies only the newest checkpoints; `sluice verify` reads everything. Local. Throws Error(usage)
/// if there is no such directory or nothing in it is from a run.
std::string directory_status(const std::string& directory);

}  // namespace sluice
