#pragma once
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "io/files/snapshot_writer.hpp"

namespace sluice::io {

/// The contents of a checkpoint besides its fields and values.
struct CheckpointSpec {
  std::string directory;  ///< created if missing
  std::int64_t step = 0;
  double time = 0;
  Provenance provenance;
  GridLines grid;
  h5::Type type = h5::Type::float64;  ///< of the fields: float32 or float64
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
