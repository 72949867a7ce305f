// The readers of checkpoints: a restart's and that of `sluice info`.
#include <cstring>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "core/support/error.hpp"
#include "io/files/checkpoint_directory.hpp"
#include "io/files/describe.hpp"
#include "io/files/hashes.hpp"
#include "io/files/posix_file.hpp"
#include "io/files/snapshot.hpp"
#include "tests/fuzz/fuzz_input.hpp"

namespace {

using namespace sluice;
using namespace sluice::io;
using fuzz::Input;
using fuzz::require;

using Groups = std::map<std::string, Values>;

/// All that a reader returns.
struct Stored {
  Values root;  ///< of which a reader returns step, time and case
  Contents contents;
  GridLines grid;
  Groups groups;
  std::map<std::string, std::vector<std::byte>> fields;
  Extents shape{};
  h5::Type type = h5::Type::float64;
};

bool same_bits(const GridLines& a, const GridLines& b) {
  const auto same = [](const std::vector<double>& one, const std::vector<double>& other) {
    return one.size() == other.size() && std::memcmp(one.data(), other.data(), one.size() * sizeof(double)) == 0;
  };
  for (std::size_t n = 0; n < 3; ++n) {
    if (!same(a.center[n], b.center[n]) || !same(a.face[n], b.face[n]) || !same(a.node[n], b.node[n])) return false;
  }
  return true;
}

/// What a file that is not damaged holds.
Stored original() {
  Stored file;
  file.shape = {3, 4, 5};
  file.grid = grid_lines(5, 5.0, 4, 4.0, {0, 0.5, 1.5, 2});
  file.root = root_values(format::checkpoint, {"0.1.0", "abc123", std::string(5000, 'c')});
  file.root.set("step", std::int64_t{12});
  file.root.set("time", 1.5);
  std::vector<double> field(60);
  for (const char* name : {"u", "v", "w", "p"}) {
    for (double& value : field) value = 1.01 * (field.front() + static_cast<double>(&value - field.data()) + 1);
    const auto* bytes = reinterpret_cast<const std::byte*>(field.data());
    file.fields[name].assign(bytes, bytes + field.size() * sizeof(double));
  }
  Values& state = file.groups["/state"];
  state.set("dt", 0.0123);
  state.set("z_blocks", std::int64_t{4});
  state.set("exchange", std::string("peer"));
  state.set("process_grid", std::vector<std::int64_t>{2, 3});
  Values& statistics = file.groups["/statistics_open"];
  statistics.set("samples", std::int64_t{7});
  statistics.set("uu", std::vector<double>{1, 2, 3});
  file.groups["/timeseries"].set("last_step", std::int64_t{10});
  return file;
}

/// Writes it as the program does.
std::string write_original(const Stored& file) {
  const std::string directory = fuzz::scratch_path("checkpoints");
  CheckpointWriter writer(MPI_COMM_SELF,
                          {directory, 12, 1.5, {"0.1.0", "abc123", file.root.text("resolved_case")}, file.grid},
                          {file.shape, whole_box(file.shape)});
  for (const auto& [name, bytes] : file.fields) writer.write_field({name, name, "1"}, bytes.data());
  for (const auto& [path, values] : file.groups) writer.write_values(path, values);
  return read_text(writer.commit(1).path);
}

/// Reads all of a checkpoint as a restart does. Throws what the readers throw.
Stored read(const std::string& path) {
  verify_checkpoint(MPI_COMM_SELF, path);
  const CheckpointReader reader(MPI_COMM_SELF, path);
  Stored file;
  file.root.set("step", reader.step());
  file.root.set("time", reader.time());
  file.root.set("resolved_case", reader.resolved_case());
  file.contents = reader.contents();
  file.grid = reader.grid();
  file.shape = reader.fields().shape;
  file.type = reader.fields().type;
  const auto bytes = static_cast<std::size_t>(whole_box(file.shape).volume()) * h5::bytes_of(file.type);
  for (const auto& [part, hash] : file.contents) {
    if (part.starts_with('/')) file.groups[part] = reader.values(part);
  }
  for (const std::string& name : reader.fields().names) {
    std::vector<std::byte>& field = file.fields[name];
    field.resize(bytes);
    reader.read_field(name, {file.shape, whole_box(file.shape)}, file.type, field.data());
  }
  return file;
}

/// Compares what was read with what the file was written from; parts that the file does not list are not read.
void compare(const Stored& found, const Stored& written) {
  for (const char* name : {"step", "time", "resolved_case"})
    require(found.root.all().at(name) == written.root.all().at(name), std::string("another ") + name);
  require(same_bits(found.grid, written.grid), "another grid");
  for (const auto& [path, values] : found.groups) {
    const auto other = written.groups.find(path);
    if (other != written.groups.end()) require(values == other->second, "other values in " + path);
  }
  for (const auto& [name, bytes] : found.fields) {
    const auto other = written.fields.find(name);
    if (other != written.fields.end()) require(bytes == other->second, "another field " + name);
  }
}

/// The bytes of a file changed, its hashes not.
void read_damaged(Input& input) {
  static const Stored intact = original();
  static const std::string bytes = write_original(intact);
  const std::string path = fuzz::scratch_path("step_0000012.h5");
  static const std::string description = (fuzz::write_bytes(path, bytes), describe(path).text());
  static const std::size_t parts = read(path).contents.size();
  const std::string changed = fuzz::damaged(bytes, input);
  if (!fuzz::is_protected(bytes, changed)) return;
  fuzz::write_bytes(path, changed);
  fuzz::read_or_refuse([&] {
    const Stored found = read(path);
    require(found.contents.size() == parts, "other contents");
    compare(found, intact);
  });
  fuzz::read_or_refuse([&] {
    const FileDescription found = describe(path);
    require(!found.intact() || found.text() == description, "another description");
  });
}

void change(Values& values, Input& input) {
  std::vector<std::string> names;
  for (const auto& [name, value] : values.all()) names.push_back(name);
  names.emplace_back("new");
  const std::string& name = names[input.below(names.size())];
  switch (input.below(6)) {
    case 0: {
      Values others;
      for (const auto& [other, value] : values.all()) {
        if (other != name) others.set(other, value);
      }
      values = others;
      break;
    }
    case 1:
      values.set(name, input.integer());
      break;
    case 2:
      values.set(name, input.real());
      break;
    case 3:
      values.set(name, input.text());
      break;
    case 4:
      values.set(name, std::vector<double>(input.below(6), input.real()));
      break;
    default:
      values.set(name, std::vector<std::int64_t>(input.below(6), input.integer()));
  }
}

void change(GridLines& grid, Input& input) {
  auto& lines = input.one_in(3) ? grid.center : input.one_in(2) ? grid.face : grid.node;
  std::vector<double>& line = lines.at(input.below(3));
  if (!line.empty()) line[input.below(line.size())] = input.real();
  if (input.one_in(2)) line.resize(input.below(9), 0.25);
}

std::uint64_t right_or_wrong(std::uint64_t hash, Input& input, bool& all_right) {
  if (!input.one_in(16)) return hash;
  all_right = false;
  return hash ^ (input.word(8) | 1U);
}

/// Other values and parts, with right hashes of the metadata. Of other hashes one may be wrong.
void read_forged(Input& input) {
  static const Stored intact = original();
  Stored file = intact;
  bool all_right = true;
  std::map<std::string, h5::Shape> shapes;
  std::map<std::string, h5::Type> types;
  for (const auto& [name, bytes] : file.fields) {
    shapes[name] = {file.shape.begin(), file.shape.end()};
    types[name] = file.type;
  }
  std::map<std::string, std::uint64_t> hashes;
  for (std::size_t changes = input.below(5); changes > 0; --changes) {
    switch (input.below(7)) {
      case 0:
        change(file.root, input);
        break;
      case 1:
        change(std::next(file.groups.begin(), static_cast<std::ptrdiff_t>(input.below(file.groups.size())))->second,
               input);
        break;
      case 2:
        change(file.grid, input);
        break;
      case 3: {
        const std::string name(1, "uvwp"[input.below(4)]);
        shapes[name] = h5::Shape(input.below(5), static_cast<std::int64_t>(input.below(7)));
        break;
      }
      case 4:
        types[std::string(1, "uvwp"[input.below(4)])] = input.one_in(2) ? h5::Type::float32 : h5::Type::int64;
        break;
      case 5: {
        std::vector<std::byte>& field = file.fields[std::string(1, "uvwp"[input.below(4)])];
        if (!field.empty()) field[input.below(field.size())] = static_cast<std::byte>(input.word(1));
        break;
      }
      default:
        if (file.groups.size() > 1) file.groups.erase(file.groups.begin());
        file.groups["/other"].set("list", std::vector<double>(input.below(6), input.real()));
    }
  }
  for (auto& [name, bytes] : file.fields) {
    const h5::Shape& shape = shapes[name];
    std::size_t elements = 1;
    for (const std::int64_t extent : shape) elements *= static_cast<std::size_t>(extent);
    const std::size_t element_bytes = h5::bytes_of(types[name]);
    bytes.resize(elements * element_bytes, std::byte{3});
    const Extents extents = shape.size() == 3 ? Extents{shape[0], shape[1], shape[2]} : Extents{1, 1, 1};
    const bool filled = shape.size() == 3 && elements > 0;
    hashes[name] = right_or_wrong(filled ? field_hash(whole_box(extents), extents, element_bytes, bytes.data()) : 0,
                                  input, all_right);
  }
  if (!file.root.has("contents")) {
    Contents contents;
    for (const auto& [name, hash] : hashes) contents[name] = hash;
    for (const auto& [path, values] : file.groups) contents[path] = std::nullopt;
    if (!input.one_in(8)) set_contents(file.root, contents);
  }

  const std::string path = fuzz::scratch_path("forged.h5");
  {
    h5::File h5 = h5::File::create(path, ExitCode::io);
    write_grid_lines(h5, file.grid);
    for (const auto& [name, bytes] : file.fields) {
      h5::Dataset dataset = h5.write_dataset("/" + name, shapes[name], types[name], bytes.data());
      if (!input.one_in(16)) dataset.set(format::hash, hashes[name]);
    }
    const auto write = [&](const std::string& group, const Values& values) {
      write_values(h5, group, values);
      h5.group(group).set("values_hash", right_or_wrong(values.hash(), input, all_right));
    };
    for (const auto& [group, values] : file.groups) write(group, values);
    Values root;  // the root has no lists
    for (const auto& [name, value] : file.root.all()) {
      if (value.index() < 3) root.set(name, value);
    }
    file.root = root;
    write("/", file.root);
    h5.close();
  }
  append_metadata_hash(path, {});
  bool accepted = false;
  fuzz::read_or_refuse([&] {
    compare(read(path), file);
    require(all_right || !file.root.has("contents"), "a wrong hash was not found");
    accepted = true;
  });
  fuzz::read_or_refuse([&] {
    const FileDescription found = describe(path);
    require(accepted || !found.intact() || found.format != format::checkpoint,
            "`info` calls a checkpoint intact that a restart refuses:\n" + found.text());
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
