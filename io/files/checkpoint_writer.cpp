#include "io/files/checkpoint_writer.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "core/support/collective.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/checkpoint_directory.hpp"
#include "io/files/field_hash.hpp"
#include "io/files/metadata_hash.hpp"
#include "io/files/xdmf.hpp"

namespace sluice::io {

namespace {

h5::Shape shape_of(const Extents& extents) {
  return {extents.begin(), extents.end()};
}

}  // namespace

CheckpointWriter::CheckpointWriter(MPI_Comm comm, CheckpointSpec spec, const LocalBlock& block)
    : comm_(comm),
      spec_(std::move(spec)),
      block_(block),
      path_(checkpoint_path(spec_.directory, spec_.step)),
      writer_(comm, block, h5::bytes_of(spec_.type)) {
  run_on_root(comm_, [&] { begin_file(); });
  run_collectively(comm_, [&] { data_.emplace(path_ + unfinished_suffix, PosixFile::Mode::existing); });
}

void CheckpointWriter::begin_file() {
  SLUICE_REQUIRE(spec_.grid.shape() == block_.global, "the coordinates of a checkpoint do not fit its fields");
  make_directories(spec_.directory);
  remove_unfinished(spec_.directory);
  unfinished_.emplace(path_);
  file_.emplace(h5::File::create(unfinished_->path(), ExitCode::io));
  write_grid_lines(*file_, spec_.grid);
}

std::uint64_t CheckpointWriter::lay_out(const FieldDescriptor& field) {
  h5::Dataset dataset = file_->lay_out_dataset("/" + field.name, shape_of(block_.global), spec_.type);
  dataset.set("long_name", field.long_name);
  dataset.set("units", field.units);
  scales_.attach("/" + field.name, coordinates_of(field.location));
  const std::uint64_t address = dataset.address();
  file_->exclude_from_metadata_hash(dataset);
  data_->reserve(address, writer_.bytes());
  return address;
}

void CheckpointWriter::write_field(const FieldDescriptor& field, const void* data) {
  std::uint64_t address = 0;
  run_on_root(comm_, [&] { address = lay_out(field); });
  check_mpi(MPI_Bcast(&address, 1, MPI_UINT64_T, 0, comm_), "MPI_Bcast");
  writer_.write(address, data, *data_);
  set_hash(field, data);
  fields_.push_back(field.name);
}

void CheckpointWriter::set_hash(const FieldDescriptor& field, const void* data) {
  const std::uint64_t part = field_hash(block_.box, block_.global, h5::bytes_of(spec_.type), data);
  std::uint64_t hash = 0;
  check_mpi(MPI_Allreduce(&part, &hash, 1, MPI_UINT64_T, MPI_SUM, comm_), "MPI_Allreduce");
  run_on_root(comm_, [&] { file_->dataset("/" + field.name).set(format::hash, hash); });
  contents_[field.name] = hash;
}

void CheckpointWriter::write_values(const std::string& group, const Values& values) {
  run_on_root(comm_, [&] { io::write_values(*file_, group, values); });
  contents_[group] = std::nullopt;
}

void CheckpointWriter::write_root() {
  Values root = root_values(format::checkpoint, spec_.provenance);
  root.set("step", spec_.step);
  root.set("time", spec_.time);
  set_contents(root, contents_);
  io::write_values(*file_, "/", root);
}

void CheckpointWriter::verify() {
  try {
    verify_checkpoint(comm_, path_ + unfinished_suffix);
  } catch (const Error& error) {
    throw Error(ExitCode::io,
                std::string("the checkpoint was written, but reads back wrong; it is dropped. ") + error.what());
  }
}

std::vector<std::string> CheckpointWriter::tidy_up(int keep) const {
  std::vector<std::string> warnings;
  try {
    const std::string file = std::filesystem::path(path_).filename().string();
    write_atomically(xdmf_path(path_), xdmf_document({file, spec_.time, {block_.global, spec_.type, fields_}}));
  } catch (const Error& error) {
    warnings.emplace_back(error.what());
  }
  std::ranges::move(prune_checkpoints(spec_.directory, spec_.step, keep), std::back_inserter(warnings));
  return warnings;
}

CheckpointWriter::Committed CheckpointWriter::commit(int keep) {
  SLUICE_REQUIRE(keep >= 1, "at least one checkpoint must be kept");
  run_on_root(comm_, [&] {
    write_root();
    scales_.write(*file_);
    file_->close();
    append_metadata_hash(unfinished_->path(), file_->excluded());
  });
  run_collectively(comm_, [&] {
    data_->sync();
    data_->close();
  });
  run_on_root(comm_, [&] { sync_file(unfinished_->path()); });
  verify();
  run_on_root(comm_, [&] { unfinished_->commit(); });

  Committed result{path_, {}};
  run_on_root(comm_, [&] { result.warnings = tidy_up(keep); });
  return result;
}

}  // namespace sluice::io
