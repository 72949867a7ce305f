#pragma once
// The checkpoints of a run: their names, which are intact, which may be removed.
#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice::io {

/// A finished checkpoint on disk.
struct CheckpointFile {
  std::int64_t step = 0;
  std::string path;
};

/// "step_0001200.h5"
std::string checkpoint_name(std::int64_t step);

/// The checkpoints of a directory by increasing step; none if the directory is missing. Ignores unfinished files.
/// Local.
std::vector<CheckpointFile> list_checkpoints(const std::string& directory);

/// The newest checkpoint that is intact, and a sentence for each damaged one that was skipped.
struct NewestIntact {
  std::optional<CheckpointFile> checkpoint;
  std::vector<std::string> warnings;
};

/// Reads the candidates from newest to oldest and verifies every checksum and hash. Collective; same result on all
/// ranks.
NewestIntact newest_intact(MPI_Comm comm, const std::string& directory);

/// Reads and verifies the whole checkpoint, each rank its share. Collective. Throws Error(restart) on every rank if it
/// is damaged or unreadable.
void verify_checkpoint(MPI_Comm comm, const std::string& path);

/// Call after checkpoint `step` is committed: keeps it and the newest keep - 1 of earlier steps, and removes the
/// others. Also removes those of later steps: they belong to a run that a restart from an earlier step abandoned.
/// Local. Returns a sentence for each file that could not be removed.
std::vector<std::string> prune_checkpoints(const std::string& directory, std::int64_t step, int keep);

}  // namespace sluice::io
