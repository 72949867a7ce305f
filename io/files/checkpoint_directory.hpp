#pragma once
// The checkpoints of a run: their names, which of them are intact, which may go.
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

/// The checkpoints of a directory by increasing step; none if it does not exist. Unfinished files do not
/// count. Local.
std::vector<CheckpointFile> list_checkpoints(const std::string& directory);

/// The newest checkpoint that can be restarted from, and a sentence for each damaged one that was passed
/// over.
struct NewestIntact {
  std::optional<CheckpointFile> checkpoint;
  std::vector<std::string> warnings;
};

/// Reads the candidates from the newest to the oldest and verifies every checksum and hash. Collective; the
/// same result everywhere.
NewestIntact newest_intact(MPI_Comm comm, const std::string& directory);

/// Reads the whole checkpoint, each rank its share, and verifies it. Collective. Throws Error(restart) on
/// every rank if it is damaged, and if it cannot be read.
void verify_checkpoint(MPI_Comm comm, const std::string& path);

/// After checkpoint `step` was committed: keeps it and the newest keep - 1 of earlier steps, and removes the
/// others. Those of later steps go too: they belong to a run that was abandoned by restarting from before
/// them. Local. Returns a sentence for each file that could not be removed.
std::vector<std::string> prune_checkpoints(const std::string& directory, std::int64_t step, int keep);

}  // namespace sluice::io
