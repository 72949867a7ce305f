#include "io/files/slice_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include "io/files/atomic_file.hpp"
#include "io/files/dimension_scales.hpp"
#include "io/files/field_hash.hpp"
#include "io/files/hdf5.hpp"
#include "io/files/posix_file.hpp"

namespace sluice::io {

namespace {

/// The steps of the label's files in the directory, in order.
std::vector<std::int64_t> existing_steps(const std::string& directory, const std::string& label) {
  std::vector<std::int64_t> steps;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    const std::string before = label + "_";
    if (!name.starts_with(before) || !name.ends_with(".h5")) continue;
    std::int64_t step = 0;
    const char* end = name.data() + name.size() - 3;
    const auto result = std::from_chars(name.data() + before.size(), end, step);
    if (result.ec == std::errc() && result.ptr == end) steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

XdmfSnapshot read_snapshot(const std::string& path) {
  const h5::File file = h5::File::open(path, ExitCode::io);
  XdmfSnapshot snapshot;
  snapshot.file = std::filesystem::path(path).filename().string();
  snapshot.time = file.group("/").real("time");
  for (const std::string& name : file.group("/").datasets()) {
    const h5::Dataset dataset = file.dataset("/" + name);
    const h5::Shape shape = dataset.shape();
    if (shape.size() != 3) continue;
    snapshot.shape = {shape[0], shape[1], shape[2]};
    snapshot.precision = dataset.element_bytes() == 4 ? Precision::single_ : Precision::double_;
    snapshot.fields.push_back(name);
  }
  return snapshot;
}

void write_field(h5::File& file, const SliceField& field, const Extents& shape, Precision precision) {
  const bool single = precision == Precision::single_;
  const std::vector<float> rounded(single ? field.values.begin() : field.values.end(), field.values.end());
  const void* data = single ? static_cast<const void*>(rounded.data()) : field.values.data();
  const h5::Type type = single ? h5::Type::float32 : h5::Type::float64;
  h5::Dataset dataset = file.create_dataset("/" + field.descriptor.name, {shape.begin(), shape.end()}, type);
  dataset.write(type, data);
  dataset.set("long_name", field.descriptor.long_name);
  dataset.set("units", field.descriptor.units);
  dataset.set(format::hash, field_hash(whole_box(shape), shape, precision, data));
}

}  // namespace

SliceSeries::SliceSeries(SliceDescription description, std::optional<std::int64_t> restart_step)
    : description_(std::move(description)) {
  make_directories(description_.directory);
  remove_unfinished(description_.directory);
  take_existing(restart_step.value_or(-1));
  write_atomically(description_.directory + "/" + description_.label + ".xdmf", xdmf_text());
}

std::string SliceSeries::path_of(std::int64_t step) const {
  return fmt::format("{}/{}_{:07}.h5", description_.directory, description_.label, step);
}

std::string SliceSeries::xdmf_text() const {
  return xdmf_series(description_.label, snapshots_);
}

void SliceSeries::take_existing(std::int64_t restart_step) {
  for (const std::int64_t step : existing_steps(description_.directory, description_.label)) {
    if (step > restart_step) {
      remove_file(path_of(step));
    } else {
      snapshots_.push_back(read_snapshot(path_of(step)));
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
  DimensionScales scales;
  for (const SliceField& field : snapshot.fields) {
    write_field(file, field, snapshot.grid.shape(), description_.precision);
    std::vector<std::string> paths;
    for (const std::string& name : dimension_names(field.descriptor.location)) paths.push_back("/grid/" + name);
    scales.attach("/" + field.descriptor.name, paths);
  }
  scales.write(file);
}

std::string SliceSeries::write(const SliceSnapshot& snapshot) {
  const Extents shape = snapshot.grid.shape();
  for (const SliceField& field : snapshot.fields) {
    SLUICE_REQUIRE(static_cast<std::int64_t>(field.values.size()) == shape[0] * shape[1] * shape[2],
                   "the slice of " + field.descriptor.name + " does not fit its coordinates");
  }
  const std::string path = path_of(snapshot.step);
  h5::write_file(path, [&](h5::File& file) { fill(file, snapshot); });

  XdmfSnapshot entry;
  entry.file = std::filesystem::path(path).filename().string();
  entry.time = snapshot.time;
  entry.shape = shape;
  entry.precision = description_.precision;
  for (const SliceField& field : snapshot.fields) entry.fields.push_back(field.descriptor.name);
  // In the order in which a restarted run finds the fields in the file, so that it writes the same text.
  std::sort(entry.fields.begin(), entry.fields.end());
  std::erase_if(snapshots_, [&](const XdmfSnapshot& other) { return other.file == entry.file; });
  snapshots_.push_back(std::move(entry));
  write_atomically(description_.directory + "/" + description_.label + ".xdmf", xdmf_text());
  return path;
}

}  // namespace sluice::io
