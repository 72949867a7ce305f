#include "io/files/snapshot_writer.hpp"

#include <filesystem>
#include <utility>

#include "core/support/collective.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/checkpoint_reader.hpp"
#include "io/files/field_hash.hpp"
#include "io/files/metadata_hash.hpp"

namespace sluice::io {

namespace {

h5::Shape shape_of(const Extents& extents) {
  return {extents.begin(), extents.end()};
}

}  // namespace

SnapshotWriter::SnapshotWriter(MPI_Comm comm, SnapshotSpec spec, const LocalBlock& block)
    : comm_(comm), spec_(std::move(spec)), block_(block), writer_(comm, block, h5::bytes_of(spec_.type)) {
  run_on_root(comm_, [&] { begin_file(); });
  run_collectively(comm_, [&] { data_.emplace(spec_.path + unfinished_suffix, PosixFile::Mode::existing); });
}

void SnapshotWriter::begin_file() {
  SLUICE_REQUIRE(spec_.grid.shape() == block_.global, "the coordinates of a file do not fit its fields");
  const std::filesystem::path path(spec_.path);
  const std::string directory = path.parent_path().string();
  make_directories(directory);
  if (const auto name = parse_numbered_name(path.filename().string()))
    remove_numbered_files(directory, name->prefix, unfinished_suffix);  // those of killed runs
  unfinished_.emplace(spec_.path);
  file_.emplace(h5::File::create(unfinished_->path(), ExitCode::io));
  write_grid_lines(*file_, spec_.grid);
}

std::uint64_t SnapshotWriter::lay_out(const FieldDescriptor& field) {
  h5::Dataset dataset = file_->lay_out_dataset("/" + field.name, shape_of(block_.global), spec_.type);
  dataset.set("long_name", field.long_name);
  dataset.set("units", field.units);
  scales_.attach("/" + field.name, coordinates_of(field.location));
  const std::uint64_t address = dataset.address();
  file_->exclude_from_metadata_hash(dataset);
  data_->reserve(address, writer_.bytes());
  return address;
}

void SnapshotWriter::write_field(const FieldDescriptor& field, const void* data) {
  std::uint64_t address = 0;
  run_on_root(comm_, [&] { address = lay_out(field); });
  check_mpi(MPI_Bcast(&address, 1, MPI_UINT64_T, 0, comm_), "MPI_Bcast");
  writer_.write(address, data, *data_);
  set_hash(field, data);
  fields_.push_back(field.name);
}

void SnapshotWriter::set_hash(const FieldDescriptor& field, const void* data) {
  const std::uint64_t part = field_hash(block_.box, block_.global, h5::bytes_of(spec_.type), data);
  const std::uint64_t hash = sum_over(comm_, part);
  run_on_root(comm_, [&] { file_->dataset("/" + field.name).set(format::hash, hash); });
  contents_[field.name] = hash;
}

void SnapshotWriter::write_values(const std::string& group, const Values& values) {
  run_on_root(comm_, [&] { io::write_values(*file_, group, values); });
  contents_[group] = std::nullopt;
}

void SnapshotWriter::write_root() {
  Values root = root_values(spec_.format, spec_.provenance);
  root.set("step", spec_.step);
  root.set("time", spec_.time);
  set_contents(root, contents_);
  io::write_values(*file_, "/", root);
  write_time(*file_, spec_.time);
}

void SnapshotWriter::verify() {
  try {
    CheckpointReader(comm_, spec_.path + unfinished_suffix, spec_.format).verify();
  } catch (const Error& error) {
    throw Error(ExitCode::io,
                std::string("the file was written, but reads back wrong; it is dropped. ") + error.what());
  }
}

void SnapshotWriter::commit() {
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
}

}  // namespace sluice::io
