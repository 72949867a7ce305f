#pragma once
#include <mpi.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "io/case/writer_spec.hpp"
#include "io/files/array_dataset.hpp"
#include "io/files/field_writer.hpp"
#include "io/files/file_format.hpp"
#include "io/files/grid_lines.hpp"
#include "io/files/shared_file.hpp"
#include "model/field_descriptor.hpp"

namespace sluice::io {

/// Reads a checkpoint, or another file of a SnapshotWriter, on any decomposition. All functions are collective; a
/// failure on one rank is thrown on all, with exit code 3 if the file is missing, damaged or of another format.
class CheckpointReader {
 public:
  CheckpointReader(MPI_Comm comm, const std::string& path, const char* format = format::checkpoint);

  const std::string& path() const { return file_.path(); }
  std::int64_t step() const { return root_.integer("step"); }
  double time() const { return root_.real("time"); }
  const Contents& contents() const { return contents_; }
  const StoredFields& fields() const { return fields_; }
  const std::string& resolved_case() const { return root_.text("resolved_case"); }

  const GridLines& grid() const { return grid_; }
  bool has_values(const std::string& group) const { return contents_.contains(group); }
  /// The values of a group. `lists` may differ between ranks. A rank that skips them does not verify the hash.
  Values values(const std::string& group, Lists lists = Lists::read) const;

  /// Fills `data` with this rank's block, converted to `type` if the file's differs, and verifies the field's hash.
  /// Hence the blocks of all ranks must make up the whole field; a block may be empty.
  void read_field(const std::string& name, const LocalBlock& block, h5::Type type, void* data) const;

  /// Reads the whole field, each rank its share of the pieces, and verifies its hash.
  void verify_field(const std::string& name) const;
  /// Verifies all fields and values; rank 0 alone reads lists among the values.
  void verify() const;

 private:
  std::uint64_t read_block(const h5::Dataset& dataset, const LocalBlock& block, h5::Type type, std::byte* data) const;
  void compare_hash(const std::string& name, std::uint64_t part) const;
  void check() const;
  template <typename Action>
  auto on_all(Action action) const;

  MPI_Comm comm_;
  h5::File file_;
  Values root_;  ///< format, versions, resolved case, step, time
  Contents contents_;
  StoredFields fields_;
  GridLines grid_;
};

/// What a file of fields at one time holds besides its fields and values.
struct SnapshotSpec {
  std::string path;
  const char* format = format::checkpoint;  ///< one of io::format
  std::int64_t step = 0;
  double time = 0;
  Provenance provenance;
  GridLines grid;
  h5::Type type = h5::Type::float64;  ///< of the fields: float32 or float64
  WriterSpec writer = {};
};

/// Writes one file of distributed fields: construct, write_field for each field, write_values for each group, commit.
/// All are collective; a failure on any rank is thrown on all. An old file of that name stays until the new one is
/// complete on disk.
class SnapshotWriter {
 public:
  /// Removes unfinished files of a killed run from the folder, which is created if missing, and starts PATH.tmp.
  /// `block`: this rank's part of every field.
  SnapshotWriter(MPI_Comm comm, SnapshotSpec spec, const LocalBlock& block);
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;

  /// `data`: this rank's block in host memory, contiguous, x fastest, in the type of the file. May be reused on return.
  void write_field(const FieldDescriptor& field, const void* data);

  /// Writes rank 0's values under a group, "/state" or "/statistics_open"; ignores those of other ranks.
  void write_values(const std::string& group, const Values& values);

  /// Closes and synchronises the file, verifies what reads back, renames it, and synchronises the folder.
  void commit();

  const SnapshotSpec& spec() const { return spec_; }
  /// What XDMF describes.
  StoredFields stored() const { return {block_.global, spec_.type, fields_}; }

 private:
  void prepare_folder() const;
  void write_root();

  MPI_Comm comm_;
  SnapshotSpec spec_;
  LocalBlock block_;
  FieldWriter writer_;
  std::optional<SharedFile> file_;
  DimensionScales scales_;  ///< on rank 0
  std::vector<std::string> fields_;
  Contents contents_;  ///< so far
};

}  // namespace sluice::io
