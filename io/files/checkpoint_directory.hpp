#pragma once
// The checkpoints of a run: their names, which are intact, which may be removed.
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "io/files/snapshot.hpp"

namespace sluice::io {

/// Of their names: step_0001200.h5, and step_0001200.h5.skipped of one that a restart set aside.
inline constexpr const char* checkpoint_prefix = "step";
inline constexpr const char* skipped_suffix = ".skipped";

/// DIRECTORY/step_0001200.h5
std::string checkpoint_path(const std::string& directory, std::int64_t step);

/// The steps of the checkpoints in a directory, in increasing order; none if the directory is missing. Ignores
/// unfinished files. Local.
std::vector<std::int64_t> list_checkpoints(const std::string& directory);

/// The newest checkpoint that is intact, and a sentence for each damaged one that was skipped.
struct NewestIntact {
  std::string path;  ///< empty if there is none
  std::vector<std::string> warnings;
};

/// Reads the candidates from newest to oldest and verifies every checksum and hash. Collective; same result on all
/// ranks.
NewestIntact newest_intact(MPI_Comm comm, const std::string& directory);

/// Reads and verifies the whole checkpoint: each rank its share of the fields, rank 0 the values. Returns its step.
/// Collective. Throws Error(restart) on every rank if it is damaged or unreadable.
std::int64_t verify_checkpoint(MPI_Comm comm, const std::string& path);

/// Before a run goes back from later checkpoints to `file`, a checkpoint of that step, and cuts its other files:
/// removes the later ones, newest first, and returns when they are gone from the disk. Whenever it is interrupted, the
/// newest checkpoint in the directory is one that the other files still reach. If `file` is elsewhere, it is first
/// linked or copied into the directory. Local. Throws Error(io).
void go_back_to_checkpoint(const std::string& directory, std::int64_t step, const std::string& file);

/// Renames the checkpoints of later steps, which could not be read, to NAME.skipped: a restart must not find them if
/// they become readable again, because the other files no longer reach them. Local. Throws Error(io).
void set_aside_later_checkpoints(const std::string& directory, std::int64_t step);

/// Call after checkpoint `step` is committed: keeps it and the newest keep - 1 of earlier steps, and removes the
/// others, also those of later steps and those set aside. Local. Returns a sentence for each file that could not be
/// removed.
[[nodiscard]] std::vector<std::string> prune_checkpoints(const std::string& directory, std::int64_t step, int keep);

/// The contents of a checkpoint besides its fields and values.
struct CheckpointSpec {
  std::string directory;  ///< created if missing
  std::int64_t step = 0;
  double time = 0;
  Provenance provenance;
  GridLines grid;
  h5::Type type = h5::Type::float64;  ///< of the fields: float32 or float64
  WriterSpec writer = {};
};

/// Writes one checkpoint, as SnapshotWriter does. Older checkpoints stay untouched until the new one is complete on
/// disk.
class CheckpointWriter {
 public:
  CheckpointWriter(MPI_Comm comm, CheckpointSpec spec, const LocalBlock& block);

  void write_field(const FieldDescriptor& field, const void* data) { writer_.write_field(field, data); }
  void write_values(const std::string& group, const Values& values) { writer_.write_values(group, values); }

  struct Committed {
    std::string path;
    std::vector<std::string> warnings;  ///< on rank 0: the checkpoint is safe, but a step besides it failed
  };

  /// Commits the file; then writes the .xdmf file and removes the oldest checkpoints beyond `keep`.
  Committed commit(int keep);

 private:
  std::vector<std::string> tidy_up(int keep) const;

  MPI_Comm comm_;
  std::string directory_;
  SnapshotWriter writer_;
};

}  // namespace sluice::io
