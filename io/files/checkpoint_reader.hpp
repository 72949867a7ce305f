#pragma once
#include <mpi.h>

#include <string>
#include <vector>

#include "io/files/checkpoint_format.hpp"
#include "io/files/grid_lines.hpp"

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

}  // namespace sluice::io
