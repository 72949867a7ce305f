#pragma once
#include <mpi.h>

#include <string>
#include <vector>

#include "io/files/grid_lines.hpp"
#include "io/files/hdf5.hpp"
#include "io/files/local_block.hpp"
#include "io/files/precision.hpp"
#include "io/files/values.hpp"

namespace sluice::io {

/// Reads a checkpoint on any decomposition. All functions are collective; a failure on one rank is thrown on all, with
/// exit code 3 if the file is missing, damaged or not a checkpoint.
class CheckpointReader {
 public:
  CheckpointReader(MPI_Comm comm, const std::string& path);

  const std::string& path() const { return file_.path(); }
  std::int64_t step() const { return root_.integer("step"); }
  double time() const { return root_.real("time"); }
  const Extents& shape() const { return shape_; }  ///< nz, ny, nx
  Precision precision() const { return precision_; }
  const std::string& resolved_case() const { return root_.text("resolved_case"); }
  const Values& root() const { return root_; }  ///< format, versions, resolved case, step, time
  const std::vector<std::string>& fields() const { return fields_; }

  GridLines grid() const;
  std::vector<std::string> value_groups() const;  ///< the groups that values() reads: "/state" ...
  bool has_values(const std::string& group) const;
  Values values(const std::string& group) const;

  /// Fills `data` with this rank's block, converted to `precision` if the file's differs, and verifies the field's
  /// hash. Hence the blocks of all ranks must make up the whole field; a block may be empty.
  void read_field(const std::string& name, const LocalBlock& block, Precision precision, void* data) const;

  /// Reads the whole field, each rank its share of the chunks, and verifies its hash.
  void verify_field(const std::string& name) const;

 private:
  void open_fields();
  std::uint64_t read_block(const h5::Dataset& dataset, const LocalBlock& block, Precision precision,
                           std::byte* data) const;
  std::uint64_t hash_share(const h5::Dataset& dataset) const;
  void compare_hash(const std::string& name, std::uint64_t part) const;
  template <typename Action>
  auto on_all(Action action) const;

  MPI_Comm comm_;
  h5::File file_;
  Values root_;
  Extents shape_{};
  Precision precision_ = Precision::double_;
  std::vector<std::string> fields_;
};

}  // namespace sluice::io
