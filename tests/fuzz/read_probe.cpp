// The readers of the parts of a probe or a slice: a restart's, which joins them in NAME.h5, those of `sluice info` and
// `sluice verify`.
#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/support/error.hpp"
#include "io/files/array_dataset.hpp"
#include "io/files/describe.hpp"
#include "io/files/hashes.hpp"
#include "io/files/posix_file.hpp"
#include "io/files/probe_series.hpp"
#include "tests/fuzz/fuzz_input.hpp"

namespace {

using namespace sluice;
using namespace sluice::io;
using fuzz::Input;
using fuzz::require;

using SampleHashes = std::vector<std::pair<std::int64_t, std::int64_t>>;

constexpr std::int64_t part_length = 3;  ///< samples of each of the two parts, at steps 1 to 3 and 4 to 6
constexpr std::int64_t last_step = 2 * part_length;
constexpr std::size_t points = 6;

ProbeDescription description_of(const std::string& directory) {
  ProbeDescription probe{directory, "plane", {"0.1.0", "abc123", std::string(5000, 'c')}, 0.5, 8, 4, {}, {}, {}};
  probe.type = h5::Type::float64;
  probe.fields = {base_fields()[0]};
  probe.coordinates = {{"x_face", {0, 1, 2}}, {"y", {0.25, 0.75}}, {"z", {0.5}}};
  probe.slice = {'z', 0.5};
  return probe;
}

std::string part_path(const std::string& directory, std::int64_t first_step) {
  return probe_parts_folder(directory) + "/" + numbered_name("plane", first_step);
}

std::vector<double> values_of(std::int64_t first_step) {
  std::vector<double> values(points * part_length);
  for (std::size_t n = 0; n < values.size(); ++n)
    values[n] = 1.01 * static_cast<double>(n) + static_cast<double>(first_step);
  return values;
}

/// Writes a part; returns its bytes.
std::string write_part(std::int64_t first_step) {
  const std::string directory = fuzz::scratch_path("probe_from_" + std::to_string(first_step));
  ProbeSamples samples;
  for (std::int64_t step = first_step; step < first_step + part_length; ++step) {
    samples.step.push_back(step);
    samples.time.push_back(static_cast<double>(step) / 3);
  }
  const std::vector<double> values = values_of(first_step);
  samples.fields.emplace_back(values.size() * sizeof(double));
  std::memcpy(samples.fields[0].data(), values.data(), samples.fields[0].size());
  ProbeSeries series(description_of(directory), std::nullopt);
  series.go_back();
  series.append(samples);
  return read_text(part_path(directory, first_step));
}

SampleHashes hashes_of(const std::string& path) {
  return probe_sample_hashes(h5::File::open(path, ExitCode::restart));
}

/// A restart from that step; `damaged`: the first step of the part that has been changed.
void restart(const std::string& directory, std::int64_t step, std::int64_t damaged, const SampleHashes& intact) {
  ProbeSeries series(description_of(directory), step);
  const bool whole = series.warnings().empty();
  require(series.last_step() <= step, "a later step than that of the restart");
  require(!whole || series.last_step() == step, "samples are missing without a warning");
  const auto hash = series.hash_at(series.last_step());
  for (const auto& [number, expected] : intact)
    require(!hash || number != series.last_step() || *hash == expected, "another sample");
  series.go_back();
  const std::string index = directory + "/plane.h5";
  if (!std::filesystem::exists(index)) return;
  const std::vector<std::int64_t> steps =
      h5::File::open(index, ExitCode::restart).dataset("/step").values<std::int64_t>();
  for (std::int64_t number = 1; number <= step; ++number) {
    const bool in_damaged = (number < damaged + part_length) && number >= damaged;
    require(std::ranges::count(steps, number) == 1 || (in_damaged && !whole), "the list of samples lacks one");
  }
}

/// Both parts, of which one is replaced.
class Directory {
 public:
  Directory() : path_(fuzz::scratch_path("probes")) {
    for (const std::int64_t first : {std::int64_t{1}, 1 + part_length}) {
      intact_[first] = write_part(first);
      std::filesystem::create_directories(probe_parts_folder(path_));
      fuzz::write_bytes(part_path(path_, first), intact_[first]);
      for (const auto& sample : hashes_of(part_path(path_, first))) hashes_.push_back(sample);
      descriptions_[first] = describe(part_path(path_, first)).text();
    }
  }

  const std::string& path() const { return path_; }
  const std::string& intact(std::int64_t first) const { return intact_.at(first); }
  const std::string& description(std::int64_t first) const { return descriptions_.at(first); }
  const SampleHashes& hashes() const { return hashes_; }

  /// A restart may have cut them.
  void write(std::int64_t changed_part, const std::string& bytes) const {
    for (const auto& [first, content] : intact_)
      fuzz::write_bytes(part_path(path_, first), first == changed_part ? bytes : content);
  }

 private:
  std::string path_;
  std::map<std::int64_t, std::string> intact_, descriptions_;
  SampleHashes hashes_;
};

const Directory& directory() {
  static const Directory made;
  return made;
}

/// The bytes of a part changed, its hashes not.
void read_damaged(Input& input, std::int64_t first, std::int64_t step) {
  const std::string& bytes = directory().intact(first);
  const std::string changed = fuzz::damaged(bytes, input);
  if (!fuzz::is_protected(bytes, changed)) return;
  directory().write(first, changed);
  const std::string path = part_path(directory().path(), first);
  fuzz::read_or_refuse([&] {
    const FileDescription found = describe(path);
    require(!found.intact() || found.text() == directory().description(first), "another description");
  });
  fuzz::read_or_refuse([&] {
    for (const auto& sample : hashes_of(path))
      require(std::ranges::count(directory().hashes(), sample) == 1, "another hash of a sample");
  });
  fuzz::read_or_refuse([&] { restart(directory().path(), step, first, directory().hashes()); });
}

/// Writes a part with other values, types and shapes, some missing, most with right hashes. Returns whether all are.
bool write_forged(const std::string& path, Input& input, std::int64_t first) {
  bool all_right = true;
  h5::File file = h5::File::create(path, ExitCode::io);
  const ProbeDescription probe = description_of("");
  Values root = root_values(format::probe_part, probe.provenance);
  root.set("name", input.one_in(16) ? input.text() : probe.name);
  for (const char* name : {"grid_velocity", "length_x", "length_y"}) {
    if (!input.one_in(24)) root.set(name, input.one_in(16) ? input.real() : 1.0);
  }
  if (input.one_in(16)) root.set("format_version", input.integer());
  write_values(file, "/", root);
  const auto stored_hash = [&](h5::Dataset& dataset, std::uint64_t hash) {
    if (input.one_in(24)) {
      hash ^= input.word(8) | 1U;
      all_right = false;
    }
    if (!input.one_in(32)) dataset.set(format::hash, hash);
    if (!input.one_in(32)) dataset.set("long_name", input.one_in(16) ? input.text() : "name");
  };
  const auto write_list = [&](const std::string& name, h5::Type type, std::vector<double> values) {
    if (input.one_in(32)) return;
    if (input.one_in(12)) values.resize(input.below(5), type == h5::Type::int64 ? 0.0 : 0.5);
    while (!values.empty() && input.one_in(12)) values[input.below(values.size())] = input.real();
    if (input.one_in(24)) type = input.one_in(2) ? h5::Type::uint64 : h5::Type::int64;
    h5::Dataset dataset = file.write_dataset(name, {std::ssize(values)}, type, values.data());
    stored_hash(dataset, byte_hash(0, values.data(), values.size() * sizeof(double)));
  };
  for (const auto& [name, line] : probe.coordinates) write_list("/" + name, h5::Type::float64, line);
  std::vector<double> steps, times;
  for (std::int64_t step = first; step < first + part_length; ++step) {
    steps.push_back(std::bit_cast<double>(step));
    times.push_back(static_cast<double>(step) / 3);
  }
  write_list("/step", h5::Type::int64, steps);
  write_list("/time", h5::Type::float64, times);

  std::vector<double> values = values_of(first);
  h5::Shape shape{part_length, 1, 2, 3};
  if (input.one_in(12)) shape[input.below(shape.size())] = static_cast<std::int64_t>(input.below(4));
  if (input.one_in(24)) shape.resize(input.below(6), 1);
  const h5::Type type = input.one_in(24) ? h5::Type::float32 : input.one_in(24) ? h5::Type::int64 : h5::Type::float64;
  std::size_t elements = 1;
  for (const std::int64_t extent : shape) elements *= static_cast<std::size_t>(extent);
  values.resize(elements);
  while (elements > 0 && input.one_in(12)) values[input.below(elements)] = input.real();
  const std::string name = input.one_in(24) ? "/p" : "/u";
  h5::Dataset dataset = file.write_dataset(name, shape, type, values.data());
  const Extents extents = shape.size() == 4 ? Extents{shape[0] * shape[1], shape[2], shape[3]} : Extents{1, 1, 1};
  const bool filled = shape.size() == 4 && elements > 0;
  stored_hash(dataset, filled ? field_hash(whole_box(extents), extents, h5::bytes_of(type), values.data()) : 0);
  file.close();
  append_metadata_hash(path, {});
  return all_right;
}

/// A part with other values and right hashes of the metadata is refused, or read without an inconsistency.
void read_forged(Input& input, std::int64_t first, std::int64_t step) {
  const std::string path = part_path(directory().path(), first);
  directory().write(first, directory().intact(first));
  const bool all_right = write_forged(path, input, first);
  fuzz::read_or_refuse([&] { require(!describe(path).intact() || all_right, "`info` has not found a wrong hash"); });
  fuzz::read_or_refuse([&] {
    hashes_of(path);
    require(all_right, "a wrong hash was not found");
  });
  fuzz::read_or_refuse([&] { ProbeSeries(description_of(directory().path()), step).go_back(); });
  fuzz::read_or_refuse([&] { ProbeSeries(directory().path(), "plane", step).go_back(); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const std::int64_t first = input.one_in(2) ? 1 : 1 + part_length;
  const std::int64_t step = input.one_in(2) ? last_step : last_step - 1;
  if (input.one_in(2)) {
    read_damaged(input, first, step);
  } else {
    read_forged(input, first, step);
  }
  return 0;
}
