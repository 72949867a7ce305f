#include "io/files/slice_series.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "io/case/numbers.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/dimension_scales.hpp"
#include "io/files/field_hash.hpp"
#include "io/files/hdf5.hpp"
#include "io/files/posix_file.hpp"

namespace sluice::io {

namespace {

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

void write_field(h5::File& file, const SliceField& field, const Extents& shape, h5::Type type) {
  h5::Dataset dataset =
      file.write_dataset("/" + field.descriptor.name, {shape.begin(), shape.end()}, type, field.values.data());
  dataset.set("long_name", field.descriptor.long_name);
  dataset.set("units", field.descriptor.units);
  dataset.set(format::hash, field_hash(whole_box(shape), shape, h5::bytes_of(type), field.values.data()));
}

/// Reads a field of a slice back. Throws the file's error if it is damaged.
void verify_field(const h5::File& file, const std::string& name) {
  const h5::Dataset dataset = file.dataset("/" + name);
  const h5::Shape shape = dataset.shape();
  const PieceLayout layout({shape[0], shape[1], shape[2]}, h5::bytes_of(dataset.real_type()));
  if (hash_of_pieces(dataset, layout, 0, layout.count()) != dataset.hash(format::hash))
    throw Error(file.context().code, "the field " + name + " does not have the hash that was stored with it");
}

}  // namespace

Box3 plane_box(const Extents& global, std::size_t axis, std::int64_t index) {
  Box3 box = whole_box(global);
  box.lo[axis] = index;
  box.hi[axis] = index + 1;
  return box;
}

GridLines plane_of(const GridLines& grid, std::size_t axis, std::int64_t index) {
  GridLines plane = grid;
  const auto n = static_cast<std::size_t>(index);
  plane.center[axis] = {grid.center[axis].at(n)};
  plane.face[axis] = {grid.face[axis].at(n)};
  plane.node[axis] = {grid.node[axis].at(n), grid.node[axis].at(n + 1)};
  return plane;
}

SliceSeries::SliceSeries(SliceDescription description, std::optional<std::int64_t> restart_step)
    : description_(std::move(description)) {
  make_directories(description_.directory);
  remove_unfinished(description_.directory);
  take_existing(restart_step.value_or(-1));
  write_xdmf();
}

std::string slice_path(const std::string& directory, const std::string& label, std::int64_t step) {
  return directory + "/" + numbered_name(label, step);
}

std::int64_t slice_hash(const h5::File& file) {
  std::uint64_t sum = 0;
  for (const std::string& name : file.group("/").datasets()) {
    const h5::Dataset dataset = file.dataset("/" + name);
    if (dataset.shape().size() == 3) sum += byte_hash(dataset.hash(format::hash), name.data(), name.size());
  }
  return static_cast<std::int64_t>(sum);
}

std::string SliceSeries::path_of(std::int64_t step) const {
  return slice_path(description_.directory, description_.label, step);
}

void SliceSeries::write_xdmf() const {
  write_atomically(description_.directory + "/" + description_.label + ".xdmf",
                   xdmf_series(description_.label, snapshots_));
}

void SliceSeries::take_existing(std::int64_t restart_step) {
  std::error_code ignored;
  for (const std::int64_t step : numbered_files(description_.directory, description_.label, ignored)) {
    const std::string path = path_of(step);
    if (step > restart_step) {
      remove_file(path);
      continue;
    }
    try {
      const h5::File file = h5::File::open(path, ExitCode::io);
      snapshots_.push_back(
          {file_name(path), file.group("/").real("time"), stored_fields(file, file.group("/").datasets())});
    } catch (const Error& error) {
      warnings_.push_back(std::string("a slice is left out of ") + description_.label + ".xdmf: " + error.what());
    }
  }
}

void SliceSeries::fill(h5::File& file, const SliceSnapshot& snapshot) const {
  Values root = root_values(format::slice, description_.provenance);
  root.set("label", description_.label);
  root.set("normal", std::string(1, description_.normal));
  root.set("at", description_.at);
  root.set("step", snapshot.step);
  root.set("time", snapshot.time);
  write_values(file, "/", root);
  write_grid_lines(file, snapshot.grid);
  write_time(file, snapshot.time);
  DimensionScales scales;
  for (const SliceField& field : snapshot.fields) {
    write_field(file, field, snapshot.grid.shape(), description_.type);
    scales.attach("/" + field.descriptor.name, coordinates_of(field.descriptor.location));
  }
  scales.write(file);
}

std::int64_t SliceSeries::write(const SliceSnapshot& snapshot) {
  StoredFields fields{snapshot.grid.shape(), description_.type, {}};
  const auto bytes = static_cast<std::size_t>(whole_box(fields.shape).volume()) * h5::bytes_of(fields.type);
  for (const SliceField& field : snapshot.fields) {
    SLUICE_REQUIRE(field.values.size() == bytes,
                   "the slice of " + field.descriptor.name + " does not fit its coordinates");
    fields.names.push_back(field.descriptor.name);
  }
  const std::string path = path_of(snapshot.step);
  std::int64_t hash = 0;
  const auto verify = [&](const h5::File& file) {
    for (const std::string& name : fields.names) verify_field(file, name);
    hash = slice_hash(file);
  };
  h5::write_file(
      path, [&](h5::File& file) { fill(file, snapshot); }, verify);

  // In the order in which a restarted run finds the fields in the file, so that it writes the same text.
  std::sort(fields.names.begin(), fields.names.end());
  std::erase_if(snapshots_, [&](const XdmfSnapshot& other) { return other.file == file_name(path); });
  snapshots_.push_back({file_name(path), snapshot.time, std::move(fields)});
  write_xdmf();
  return hash;
}

}  // namespace sluice::io
