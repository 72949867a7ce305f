#pragma once
#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/flow/field_descriptor.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/checkpoint_format.hpp"
#include "io/files/dimension_scales.hpp"
#include "io/files/field_writer.hpp"
#include "io/files/grid_lines.hpp"

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

/// Writes one checkpoint: construct, write_field for each field, write_values for each group, commit. All are
/// collective; a failure on any rank is thrown on all. Older checkpoints stay untouched until the new one is complete
/// on disk.
///
/// Rank 0 builds the HDF5 file without the fields' elements and reserves space for them; every rank then writes its
/// share (FieldWriter). So HDF5 itself never waits for another rank. docs/reliability.md says how HDF5's parallel
/// writing fails.
class CheckpointWriter {
 public:
  /// Removes unfinished files of a killed run and starts NAME.tmp. `block`: this rank's part of every field.
  CheckpointWriter(MPI_Comm comm, CheckpointSpec spec, const LocalBlock& block);
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// `data`: this rank's block in host memory, contiguous, x fastest, in the type of the checkpoint. May be reused on
  /// return.
  void write_field(const FieldDescriptor& field, const void* data);

  /// Writes rank 0's values under a group, "/state" or "/statistics_open"; ignores those of other ranks.
  void write_values(const std::string& group, const Values& values);

  struct Committed {
    std::string path;
    std::vector<std::string> warnings;  ///< on rank 0: the checkpoint is safe, but a step besides it failed
  };

  /// Closes, synchronises, reopens, verifies and renames the file, and synchronises the directory; then writes the
  /// .xdmf file and removes the oldest checkpoints beyond `keep`.
  Committed commit(int keep);

 private:
  void begin_file();
  std::uint64_t lay_out(const FieldDescriptor& field);
  void set_hash(const FieldDescriptor& field, const void* data);
  void write_root();
  void verify();
  std::vector<std::string> tidy_up(int keep) const;

  MPI_Comm comm_;
  CheckpointSpec spec_;
  LocalBlock block_;
  std::string path_;
  FieldWriter writer_;
  std::optional<UnfinishedFile> unfinished_;  ///< rank 0: removes NAME.tmp if it is not committed
  std::optional<h5::File> file_;              ///< rank 0
  std::optional<PosixFile> data_;             ///< every rank: the same file, for the fields
  DimensionScales scales_;
  std::vector<std::string> fields_;
  Contents contents_;  ///< so far
};

}  // namespace sluice::io
