#pragma once
// The files that runs write into their output directory, recognised by their names and contents; and the names in them.
// All that reads the directory is for rank 0 alone.
#include <filesystem>
#include <string>
#include <vector>

namespace sluice {

namespace io {
struct Case;
struct KeyFault;
}  // namespace io

/// The files of runs in a directory. Other files there, and folders, do not count.
struct RunFiles {
  /// In the order in which --overwrite removes them: checkpoints first, resolved.yaml last, so that holds_results still
  /// sees results if the removal is interrupted.
  std::vector<std::filesystem::path> files;
  /// Files that Sluice did not write, under names that a run would replace.
  std::vector<std::filesystem::path> in_the_way;
  bool holds_results = false;  ///< more than a log and the record of a run that failed at its start
};

/// Links are followed. A directory that is missing or cannot be listed holds no files.
RunFiles find_run_files(const std::filesystem::path& directory);

/// Throws Error(usage) for a directory in which no run has left results, damaged or not.
void require_results(const std::filesystem::path& directory);

/// Removes them, and the folders of ours that are empty then. Folders that are symbolic links stay. Throws Error(io).
void remove_run_files(const std::filesystem::path& directory, const RunFiles& found);

/// Removes the files STOP and CHECKPOINT (StopControl) that were there before a run. Returns a warning for each. Throws
/// Error(io) if one cannot be removed.
[[nodiscard]] std::vector<std::string> remove_old_requests(const std::filesystem::path& directory);

/// The names of scalars and probes in a case that a file of a run uses for something else. All outputs count, even
/// those that are off: a restart may switch them on. The names come from the writers of the files.
std::vector<io::KeyFault> name_conflicts(const io::Case& settings);

}  // namespace sluice
