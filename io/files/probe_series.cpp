#include "io/files/probe_series.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <sstream>
#include <system_error>

#include "core/support/collective.hpp"
#include "io/files/array_dataset.hpp"
#include "io/files/field_writer.hpp"
#include "io/files/file_format.hpp"
#include "io/files/grid_lines.hpp"
#include "io/files/posix_file.hpp"
#include "io/files/shared_file.hpp"
#include "io/files/xdmf.hpp"

namespace sluice::io {

namespace {

constexpr std::size_t part_bytes = std::size_t{16} << 20;
constexpr std::size_t held_bytes = std::size_t{4} << 20;
constexpr std::size_t max_samples = 10000;

std::vector<std::string> axes_of(const FieldDescriptor& field) {
  std::vector<std::string> axes{"/time"};
  for (const std::string& name : coordinate_names(field)) axes.push_back("/" + name);
  return axes;
}

h5::Shape with_samples(std::int64_t samples, h5::Shape shape) {
  shape.insert(shape.begin(), samples);
  return shape;
}

[[noreturn]] void fail(const h5::File& file, const std::string& what) {
  throw Error(ExitCode::restart, file.path() + ": the file is damaged: " + what);
}

constexpr const char* wrong_hash = " does not have the hash that was stored with it";

/// A hash that a reader in Python can compute fast.
std::uint64_t hash_of(const h5::Shape& shape, h5::Type type, const void* data) {
  const Extents extents{shape[0] * shape[1], shape[2], shape[3]};
  return field_hash(whole_box(extents), extents, h5::bytes_of(type), data);
}

std::vector<std::byte> read_field(const h5::File& file, const std::string& path, const h5::Shape& shape,
                                  h5::Type type) {
  const h5::Dataset dataset = file.dataset(path);
  if (dataset.shape() != shape || !dataset.is_floating() || dataset.real_type() != type)
    fail(file, path + " does not fit its coordinates");
  dataset.require_stored();
  std::vector<std::byte> values(h5::elements_of(shape) * h5::bytes_of(type));
  dataset.read(type, values.data());
  if (dataset.hash(format::hash) != hash_of(shape, type, values.data())) fail(file, path + wrong_hash);
  return values;
}

/// The coordinates, fields and type of a part.
ProbeDescription stored_description(const h5::File& file) {
  const Values root = check_root(file, format::probe_part);
  ProbeDescription stored;
  stored.name = root.text("name");
  stored.provenance = {root.text("sluice_version"), root.text("git_revision"), root.text("resolved_case")};
  stored.grid_velocity = root.real("grid_velocity");
  stored.length_x = root.real("length_x");
  stored.length_y = root.real("length_y");
  if (root.has("normal")) {
    const std::string normal = root.text("normal");
    if (normal != "x" && normal != "y" && normal != "z") fail(file, "it has no normal");
    stored.slice = {normal.front(), root.real("at")};
  }
  if (root.has("every")) stored.every = root.real("every");
  std::vector<FieldDescriptor> known = base_fields();
  std::istringstream scalars(root.has("scalars") ? root.text("scalars") : "");
  for (std::string name; scalars >> name;) known.push_back(scalar_field(name));
  for (const FieldDescriptor& field : known) {
    if (!file.has("/" + field.name)) continue;
    stored.type = file.dataset("/" + field.name).real_type();
    stored.fields.push_back(field);
    for (const std::string& name : coordinate_names(field))
      stored.coordinates.try_emplace(name, read_array<double>(file, "/" + name));
  }
  if (stored.fields.empty()) fail(file, "it has no field");
  return stored;
}

/// The steps and times of a part.
ProbeSamples read_times(const h5::File& file) {
  ProbeSamples samples;
  samples.step = read_array<std::int64_t>(file, "/step");
  samples.time = read_array<double>(file, "/time");
  const bool rising = std::ranges::adjacent_find(samples.step, std::ranges::greater_equal()) == samples.step.end();
  if (samples.step.empty() || samples.step.size() != samples.time.size() || !rising)
    fail(file, "its steps and times do not fit each other");
  return samples;
}

/// All of a part.
ProbeSamples read_samples(const h5::File& file, const ProbeDescription& stored) {
  ProbeSamples samples = read_times(file);
  for (const FieldDescriptor& field : stored.fields) {
    const h5::Shape shape = with_samples(std::ssize(samples.step), stored.shape(field));
    samples.fields.push_back(read_field(file, "/" + field.name, shape, stored.type));
  }
  return samples;
}

std::size_t bytes_per_sample(const ProbeSamples& samples, std::size_t field) {
  return samples.fields[field].size() / samples.size();
}

void keep_first(ProbeSamples& samples, std::size_t count) {
  for (std::size_t n = 0; n < samples.fields.size(); ++n)
    samples.fields[n].resize(count * bytes_per_sample(samples, n));
  samples.step.resize(count);
  samples.time.resize(count);
}

/// Appends the samples [begin, end) of `from`.
void add(ProbeSamples& samples, const ProbeSamples& from, std::size_t begin, std::size_t end) {
  samples.fields.resize(from.fields.size());
  for (std::size_t n = 0; n < from.fields.size(); ++n) {
    const std::size_t bytes = bytes_per_sample(from, n);
    const auto first = from.fields[n].begin();
    samples.fields[n].insert(samples.fields[n].end(), first + begin * bytes, first + end * bytes);
  }
  for (std::size_t n = begin; n < end; ++n) {
    samples.step.push_back(from.step[n]);
    samples.time.push_back(from.time[n]);
  }
}

std::int64_t hash_of(const ProbeSamples& samples, const std::vector<FieldDescriptor>& fields, std::size_t number) {
  std::uint64_t hash = byte_hash(samples.step[number], &samples.time[number], sizeof(double));
  for (std::size_t n = 0; n < fields.size(); ++n) {  // the sum does not depend on their order
    const std::size_t bytes = bytes_per_sample(samples, n);
    const std::uint64_t name = byte_hash(0, fields[n].name.data(), fields[n].name.size());
    hash += byte_hash(name, samples.fields[n].data() + number * bytes, bytes);
  }
  return hash;
}

/// Separated by blanks.
std::string names_of_scalars(const std::vector<FieldDescriptor>& fields) {
  std::string names;
  for (const FieldDescriptor& field : fields) {
    const bool base = std::ranges::find(base_fields(), field.name, &FieldDescriptor::name) != base_fields().end();
    if (!base) names += (names.empty() ? "" : " ") + field.name;
  }
  return names;
}

void write_root(h5::File& file, const char* format, const ProbeDescription& description) {
  Values root = root_values(format, description.provenance);
  root.set("name", description.name);
  root.set("grid_velocity", description.grid_velocity);
  root.set("length_x", description.length_x);
  root.set("length_y", description.length_y);
  if (description.slice) {
    root.set("normal", std::string(1, description.slice->normal));
    root.set("at", description.slice->at);
  }
  if (description.every) root.set("every", *description.every);
  if (const std::string scalars = names_of_scalars(description.fields); !scalars.empty()) root.set("scalars", scalars);
  write_values(file, "/", root);
  for (const auto& [name, line] : description.coordinates)
    write_scale(file, "/" + name, line, name.substr(0, 1) + " of the points sampled / h");
}

void attach_scales(h5::File& file, const ProbeDescription& description) {
  DimensionScales scales;
  scales.attach("/step", {"/time"});
  for (const FieldDescriptor& field : description.fields) scales.attach("/" + field.name, axes_of(field));
  scales.write(file);
}

constexpr const char* step_meaning = "step at which the sample was taken";
constexpr const char* time_meaning = "time at which the sample was taken / (h/U)";

/// What a part holds before its fields.
void write_points_and_times(h5::File& file, const ProbeDescription& description, const ProbeSamples& samples) {
  write_root(file, format::probe_part, description);
  write_scale(file, "/time", samples.time, time_meaning);
  write_array(file, "/step", {std::ssize(samples.step)}, samples.step, step_meaning, "1");
}

}  // namespace

std::vector<std::string> coordinate_names(const FieldDescriptor& field) {
  std::vector<std::string> names;
  for (const std::string& path : coordinates_of(field.location)) names.push_back(path.substr(path.rfind('/') + 1));
  return names;
}

h5::Shape ProbeDescription::shape(const FieldDescriptor& field) const {
  h5::Shape shape;
  for (const std::string& line : coordinate_names(field)) shape.push_back(std::ssize(coordinates.at(line)));
  return shape;
}

std::size_t ProbeDescription::sample_bytes() const {
  std::size_t bytes = 0;
  for (const FieldDescriptor& field : fields) bytes += h5::elements_of(shape(field)) * h5::bytes_of(type);
  return bytes;
}

std::int64_t ProbeDescription::part_samples() const {
  return std::clamp<std::size_t>(part_bytes / sample_bytes(), 1, max_samples);
}

std::int64_t ProbeDescription::held_samples() const {
  return held_probe_samples(sample_bytes());
}

std::int64_t held_probe_samples(std::size_t sample_bytes) {
  return std::clamp<std::size_t>(held_bytes / sample_bytes, 1, max_samples);
}

std::string probe_parts_folder(const std::string& directory) {
  return directory + "/parts";
}

bool has_probe_parts(const std::string& directory, const std::string& name) {
  const std::string folder = probe_parts_folder(directory);
  std::error_code ignored;
  const std::vector<std::int64_t> numbers = numbered_files(folder, name, ignored);
  return std::ranges::any_of(numbers, [&](std::int64_t number) {
    return is_ours(folder + "/" + numbered_name(name, number), {format::probe_part});
  });
}

ProbeSeries::ProbeSeries(ProbeDescription description, std::optional<std::int64_t> restart_step)
    : description_(std::move(description)), restart_step_(restart_step.value_or(-1)), described_(true) {
  read_parts();
}

ProbeSeries::ProbeSeries(const std::string& directory, const std::string& name, std::int64_t restart_step)
    : restart_step_(restart_step) {
  description_.directory = directory;
  description_.name = name;
  read_parts();
}

std::string ProbeSeries::index_path() const {
  return description_.directory + "/" + description_.name + ".h5";
}

std::string ProbeSeries::part_path(std::int64_t first_step) const {
  return probe_parts_folder(description_.directory) + "/" + numbered_name(description_.name, first_step);
}

std::string ProbeSeries::latest_path() const {
  if (!parts_.empty()) return part_path(parts_.back().first_step);
  return probe_parts_folder(description_.directory) + "/" + description_.name + "_*.h5";
}

void ProbeSeries::read_parts() {
  std::error_code ignored;
  std::vector<std::int64_t> numbers =
      numbered_files(probe_parts_folder(description_.directory), description_.name, ignored);
  std::erase_if(numbers, [&](std::int64_t number) { return number > restart_step_; });
  std::optional<ProbeDescription> stored;
  for (const std::int64_t number : numbers) {
    try {
      stored = read_part(number, number == numbers.back());
    } catch (const Error& error) {
      leave_out(number, error.what());
    }
  }
  leave_out_overlapping();
  if (!stored) return;
  stored_case_ = stored->provenance.resolved_case;
  stored_every_ = stored->every;
  if (described_) {
    if (stored->every != description_.every && latest_.size() > 0) outdated_ = true;
    return require_same_points(*stored);
  }
  stored->directory = description_.directory;
  description_ = *stored;
  described_ = true;
}

/// Steps of a run increase from part to part. The later of two parts is the one that the run went on with.
void ProbeSeries::leave_out_overlapping() {
  for (std::size_t n = parts_.size(); n-- > 1;) {
    const Part& part = parts_[n - 1];
    if (part.last_step < parts_[n].first_step) continue;
    leave_out(part.first_step, part_path(part.first_step) + ": reaches step " + std::to_string(part.last_step) +
                                   ", but the next part begins at step " + std::to_string(parts_[n].first_step));
    parts_.erase(parts_.begin() + (n - 1));
  }
}

void ProbeSeries::leave_out(std::int64_t first_step, const std::string& reason) {
  left_out_[first_step] = "samples are left out of " + description_.name + ".h5: " + reason;
}

std::vector<std::string> ProbeSeries::warnings() const {
  std::vector<std::string> list;
  for (const auto& [first_step, warning] : left_out_) list.push_back(warning);
  return list;
}

std::optional<std::string> ProbeSeries::warning_of_newest() const {
  if (left_out_.empty()) return std::nullopt;
  const auto& [first_step, warning] = *left_out_.rbegin();
  return parts_.empty() || first_step > parts_.back().first_step ? std::optional(warning) : std::nullopt;
}

void ProbeSeries::require_same_points(const ProbeDescription& stored) const {
  const auto names = [](const ProbeDescription& probe) {
    std::vector<std::string> list;
    for (const FieldDescriptor& field : probe.fields) list.push_back(field.name);
    return list;
  };
  const bool same_points = names(stored) == names(description_) && stored.coordinates == description_.coordinates;
  if (same_points && stored.type == description_.type) return;
  throw Error(
      ExitCode::restart,
      index_path() +
          (same_points ? ": the run has written it in another precision so far; "
                       : ": the run has written other points or fields to it so far than the case asks for; ") +
          (description_.slice ? "move it and its files in the folder parts away, and say --allow-change to begin "
                                "a new one"
                              : "give the probe another name"));
}

ProbeDescription ProbeSeries::read_part(std::int64_t first_step, bool latest) {
  const h5::File file = h5::File::open(part_path(first_step), ExitCode::restart);
  ProbeDescription stored = stored_description(file);
  ProbeSamples samples = latest ? read_samples(file, stored) : read_times(file);
  if (stored.name != description_.name || samples.step.front() != first_step)
    fail(file, "its name does not fit what it holds");
  if (!latest) {
    parts_.push_back({first_step, samples.step.back(), samples.time});
    return stored;
  }
  const std::size_t kept = std::ranges::upper_bound(samples.step, restart_step_) - samples.step.begin();
  outdated_ = kept < samples.size();
  keep_first(samples, kept);
  latest_ = std::move(samples);
  parts_.push_back({first_step, latest_.step.back(), latest_.time});
  return stored;
}

void ProbeSeries::go_back() {
  const std::string folder = probe_parts_folder(description_.directory);
  make_directories(folder);
  for (const std::string& path : {index_path(), xdmf_path(index_path())}) remove_file(path + unfinished_suffix);
  remove_numbered_files(folder, description_.name, unfinished_suffix);
  // The index first: after a kill, it must not lead to samples that are gone.
  if (parts_.empty()) {
    if (is_xdmf_of_ours(xdmf_path(index_path()))) remove_file(xdmf_path(index_path()));
    if (is_ours(index_path(), {format::probe})) remove_file(index_path());
  } else if (described_) {
    write_index();
  }
  for (const auto& [first_step, warning] : left_out_)
    rename_durably(part_path(first_step), part_path(first_step) + left_out_suffix);
  std::error_code ignored;
  std::vector<std::int64_t> numbers = numbered_files(folder, description_.name, ignored);
  for (auto number = numbers.rbegin(); number != numbers.rend() && *number > restart_step_; ++number) {
    if (is_ours(part_path(*number), {format::probe_part})) remove_file(part_path(*number));
  }
  if (outdated_) write_part();
  outdated_ = false;
}

void ProbeSeries::append(const ProbeSamples& samples) {
  const std::size_t capacity = description_.part_samples();
  for (std::size_t begin = 0; begin < samples.size();) {
    if (latest_.size() == 0 || latest_.size() >= capacity) begin_part(samples.step[begin]);
    const std::size_t end = std::min(samples.size(), begin + capacity - latest_.size());
    add_to_part(samples, begin, end);
    write_part();
    begin = end;
  }
  write_index();
}

void ProbeSeries::begin_part(std::int64_t first_step) {
  latest_ = {};
  parts_.push_back({first_step, 0, {}});
}

void ProbeSeries::add_to_part(const ProbeSamples& samples, std::size_t begin, std::size_t end) {
  add(latest_, samples, begin, end);
  parts_.back().last_step = latest_.step.back();
  parts_.back().time = latest_.time;
}

namespace {

/// A part as it reads back, of which each rank reads a share.
void verify_on_all(MPI_Comm comm, const std::string& path, const ProbeDescription& description) {
  for (const FieldDescriptor& field : description.fields) {
    std::uint64_t stored = 0;
    std::uint64_t share = 0;
    run_collectively(comm, [&] {
      const h5::File file = h5::File::open(path, ExitCode::restart);
      stored_description(file);
      read_times(file);
      const h5::Shape shape = description.shape(field);
      const h5::Dataset dataset = file.dataset("/" + field.name);
      if (dataset.shape() != with_samples(1, shape)) fail(file, "/" + field.name + " does not fit its coordinates");
      const PieceLayout layout({shape[0], shape[1], shape[2]}, h5::bytes_of(description.type));
      const int rank = rank_of(comm);
      const int size = size_of(comm);
      share = hash_of_pieces(dataset, layout, layout.first_of(rank, size), layout.first_of(rank + 1, size));
      stored = dataset.hash(format::hash);
    });
    const std::uint64_t hash = sum_over(comm, share);
    run_collectively(comm, [&] {
      if (hash != stored) fail(h5::File::open(path, ExitCode::restart), "/" + field.name + wrong_hash);
    });
  }
}

}  // namespace

void ProbeSeries::append_on_all(MPI_Comm comm, ProbeSeries* series, const ProbeDescription& description,
                                const ProbeSamples& sample, const std::vector<ProbePiece>& pieces,
                                const WriterSpec& writer) {
  std::string path;
  run_on_root(comm, [&] {
    series->begin_part(sample.step.front());
    series->add_to_part(sample, 0, 1);
    path = series->part_path(sample.step.front());
  });
  broadcast(path, comm);
  SharedFile part(comm, path, writer);
  run_on_root(comm, [&] { write_points_and_times(part.on_root(), description, sample); });
  for (std::size_t n = 0; n < description.fields.size(); ++n) {
    const FieldDescriptor& field = description.fields[n];
    FieldWriter values(comm, pieces[n].block, h5::bytes_of(description.type));
    part.write("/" + field.name, with_samples(1, description.shape(field)), description.type, values, pieces[n].data,
               [&](h5::Dataset& dataset) { set_meaning(dataset, field.long_name, field.units); });
  }
  run_on_root(comm, [&] { attach_scales(part.on_root(), description); });
  part.commit([&](const std::string& unfinished) { verify_on_all(comm, unfinished, description); });
  run_on_root(comm, [&] { series->write_index(); });
}

std::optional<std::int64_t> ProbeSeries::hash_at(std::int64_t step) const {
  const auto found = std::ranges::find(latest_.step, step);
  if (found == latest_.step.end()) return std::nullopt;
  return hash_of(latest_, description_.fields, found - latest_.step.begin());
}

void ProbeSeries::write_part() const {
  const std::int64_t count = std::ssize(latest_.step);
  const auto build = [&](h5::File& file) {
    write_points_and_times(file, description_, latest_);
    for (std::size_t n = 0; n < description_.fields.size(); ++n) {
      const FieldDescriptor& field = description_.fields[n];
      const h5::Shape shape = with_samples(count, description_.shape(field));
      const std::byte* values = latest_.fields[n].data();
      h5::Dataset dataset = file.write_dataset("/" + field.name, shape, description_.type, values);
      set_meaning(dataset, field.long_name, field.units);
      dataset.set(format::hash, hash_of(shape, description_.type, values));
      file.exclude_from_metadata_hash(dataset);
    }
    attach_scales(file, description_);
  };
  h5::write_file(part_path(parts_.back().first_step), build, verify_probe_part);
}

void ProbeSeries::write_index() const {
  std::vector<h5::VirtualPart> sources;
  std::int64_t count = 0;
  for (const Part& part : parts_) {
    sources.push_back({"parts/" + numbered_name(description_.name, part.first_step), std::ssize(part.time)});
    count += std::ssize(part.time);
  }
  const auto add_dataset = [&](h5::File& file, const std::string& name, const h5::Shape& shape, h5::Type type,
                               const std::string& long_name, const std::string& units) {
    h5::Dataset dataset = file.write_virtual_dataset("/" + name, with_samples(count, shape), type, sources);
    set_meaning(dataset, long_name, units);
    return dataset;
  };
  h5::write_file(index_path(), [&](h5::File& file) {
    write_root(file, format::probe, description_);
    h5::Dataset time = add_dataset(file, "time", {}, h5::Type::float64, time_meaning, "1");
    make_dimension_scale(time, "time");
    add_dataset(file, "step", {}, h5::Type::int64, step_meaning, "1");
    for (const FieldDescriptor& field : description_.fields)
      add_dataset(file, field.name, description_.shape(field), description_.type, field.long_name, field.units);
    attach_scales(file, description_);
  });
  if (description_.slice) write_xdmf();
}

void ProbeSeries::write_xdmf() const {
  const auto line = [&](const std::string& axis) {
    return description_.coordinates.contains(axis) ? axis : axis + "_face";
  };
  XdmfPlane plane{description_.name, {line("z"), line("y"), line("x")}, {}, {}};
  const h5::Shape shape = description_.shape(description_.fields.front());
  plane.fields = {{shape[0], shape[1], shape[2]}, description_.type, {}};
  for (const FieldDescriptor& field : description_.fields) plane.fields.names.push_back(field.name);
  for (const Part& part : parts_)
    plane.parts.push_back({"parts/" + numbered_name(description_.name, part.first_step), part.time});
  io::write_xdmf(xdmf_path(index_path()), xdmf_plane(plane));
}

void verify_probe_part(const h5::File& file) {
  read_samples(file, stored_description(file));
}

std::vector<std::pair<std::int64_t, std::int64_t>> probe_sample_hashes(const h5::File& part) {
  const ProbeDescription stored = stored_description(part);
  const ProbeSamples samples = read_samples(part, stored);
  std::vector<std::pair<std::int64_t, std::int64_t>> hashes;
  for (std::size_t n = 0; n < samples.size(); ++n)
    hashes.emplace_back(samples.step[n], hash_of(samples, stored.fields, n));
  return hashes;
}

}  // namespace sluice::io
