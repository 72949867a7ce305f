// The readers of statistics.h5: a restart's and that of `sluice info`.
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/support/error.hpp"
#include "io/files/describe.hpp"
#include "io/files/hashes.hpp"
#include "io/files/hdf5.hpp"
#include "io/files/posix_file.hpp"
#include "io/files/statistics_file.hpp"
#include "io/files/stored_blocks.hpp"
#include "tests/fuzz/fuzz_input.hpp"

namespace {

using namespace sluice;
using namespace sluice::io;
using fuzz::Input;
using fuzz::require;

StatisticsSpec spec_of(const std::string& path) {
  StatisticsSpec spec;
  spec.path = path;
  spec.provenance = {"0.1.0", "abc123", std::string(5000, 'c')};
  spec.attributes.set("viscosity", 3.5e-4);
  spec.profiles = {{"u", "sum of u / U_b", "1", ProfileAxis::z_center},
                   {"uw", "sum of u w / U_b^2", "1", ProfileAxis::z_face}};
  spec.z = {0.25, 1.0, 1.75};
  spec.z_face = {0, 0.5, 1.5, 2};
  return spec;
}

std::string write_original(const std::string& path) {
  StatisticsFile file(spec_of(path), false);
  file.truncate_after(0, std::numeric_limits<double>::infinity());
  for (int n = 0; n < 4; ++n) {
    const double v = 0.1 * n;
    Values parameters;
    parameters.set("flow.reynolds.viscosity", std::string(n < 2 ? "0.001" : "0.002"));
    file.append({10 + n, v, v + 0.1, 100 * (n + 1), 2 * v, {{v, v + 1, v + 2}, {0, v / 3, v / 7, 0}}}, parameters);
  }
  return read_text(path);
}

/// The bits of all blocks, as a restart and `sluice verify` read them.
std::string read(const std::string& path) {
  std::string bits;
  const auto add = [&](const auto& value) { bits.append(reinterpret_cast<const char*>(&value), sizeof(value)); };
  const StatisticsFile file(spec_of(path), true);
  for (const StatisticsBlock& block : file.blocks()) {
    add(block.samples);
    add(block.time_begin);
    add(block.time_end);
    add(block.step_end);
    add(block.forcing);
    add(block.parameter_set);
    for (const std::vector<double>& sums : block.sums) {
      add(sums.size());
      for (const double sum : sums) add(sum);
    }
  }
  const StoredBlocks stored = read_stored_blocks(path, Sums::read);
  for (const StatisticsBlock& block : stored.blocks) add(hash_of(block, stored.profiles));
  return bits;
}

/// The bytes of a file changed, its hashes not.
void read_damaged(Input& input) {
  const std::string path = fuzz::scratch_path("statistics.h5");
  static const std::string bytes = write_original(path);
  static const std::string intact = read(path);
  static const std::string description = describe(path).text();
  const std::string changed = fuzz::damaged(bytes, input);
  if (!fuzz::is_protected(bytes, changed)) return;
  fuzz::write_bytes(path, changed);
  fuzz::read_or_refuse([&] { require(read(path) == intact, "other blocks"); });
  fuzz::read_or_refuse([&] {
    const FileDescription found = describe(path);
    require(!found.intact() || found.text() == description, "another description");
  });
}

std::size_t elements_of(const h5::Shape& shape) {
  std::size_t elements = 1;
  for (const std::int64_t extent : shape) elements *= static_cast<std::size_t>(extent);
  return elements;
}

/// Datasets of other types, shapes and values, some missing, most with right hashes.
void read_forged(Input& input) {
  const std::string path = fuzz::scratch_path("forged.h5");
  const std::size_t blocks = input.below(4);
  bool all_right = true;
  bool fits = true;
  {
    h5::File file = h5::File::create(path, ExitCode::io);
    Values root = root_values(format::statistics, {"0.1.0", "abc123", "case"});
    root.set("viscosity", 3.5e-4);
    if (input.one_in(8)) root.set("format_version", input.integer());
    if (input.one_in(8)) root.set(input.text() + "x", input.text());
    write_values(file, "/", root);
    const auto write = [&](const std::string& name, h5::Shape shape, h5::Type type, std::vector<double> values) {
      if (input.one_in(24)) return;
      const std::size_t expected = elements_of(shape);
      if (input.one_in(24)) shape = h5::Shape(input.below(4), static_cast<std::int64_t>(input.below(5)));
      if (input.one_in(24)) type = input.one_in(2) ? h5::Type::float32 : h5::Type::uint64;
      const std::size_t elements = elements_of(shape);
      if (elements != expected) fits = false;
      values.resize(elements, type == h5::Type::int64 ? 0.0 : 0.5);
      while (elements > 0 && input.one_in(8)) values[input.below(elements)] = input.real();
      h5::Dataset dataset = file.write_dataset(name, shape, type, values.data());
      std::uint64_t hash = byte_hash(0, values.data(), elements * sizeof(double));
      if (input.one_in(24)) {
        hash ^= input.word(8) | 1U;
        all_right = false;
      }
      if (type != h5::Type::float32 && !input.one_in(24)) dataset.set(format::hash, hash);
    };
    const auto n = static_cast<std::int64_t>(blocks);
    file.create_group("/grid");
    const StatisticsSpec spec = spec_of(path);
    write("/grid/z", {3}, h5::Type::float64, spec.z);
    write("/grid/z_face", {4}, h5::Type::float64, spec.z_face);
    for (const char* name : {"/samples", "/step_end", "/parameter_set"}) write(name, {n}, h5::Type::int64, {});
    for (const char* name : {"/t_begin", "/t_end", "/forcing"}) write(name, {n}, h5::Type::float64, {});
    write("/u", {n, 3}, h5::Type::float64, {});
    write("/uw", {n, 4}, h5::Type::float64, {});
    for (std::size_t sets = input.below(3); sets > 0; --sets) {
      Values parameters;
      parameters.set("flow.reynolds.viscosity", input.text());
      write_values(file, "/parameter_set_" + std::to_string(sets - 1), parameters);
    }
    file.close();
  }
  append_metadata_hash(path, {});
  fuzz::read_or_refuse([&] { require(!describe(path).intact() || all_right, "`info` has not found a wrong hash"); });
  fuzz::read_or_refuse([&] {
    read(path);
    require(all_right, "a wrong hash was not found");
    require(fits, "a list of another length was not found");
    StatisticsFile(spec_of(path), true).truncate_after(150, std::numeric_limits<double>::infinity());
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  if (input.one_in(2)) {
    read_damaged(input);
  } else {
    read_forged(input);
  }
  return 0;
}
