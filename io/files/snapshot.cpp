#include "io/files/snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "core/support/collective.hpp"
#include "io/files/hashes.hpp"
#include "io/files/posix_file.hpp"

namespace sluice::io {

namespace {

h5::File open_on_all(MPI_Comm comm, const std::string& path) {
  std::optional<h5::File> file;
  run_collectively(comm, [&] { file.emplace(h5::File::open(path, ExitCode::restart)); });
  return std::move(*file);
}

template <typename From, typename To>
void convert(const std::byte* from, std::byte* to, std::size_t elements) {
  const auto* source = reinterpret_cast<const From*>(from);
  auto* target = reinterpret_cast<To*>(to);
  std::transform(source, source + elements, target, [](From value) { return static_cast<To>(value); });
}

void convert(h5::Type from_type, const std::byte* from, h5::Type to_type, std::byte* to, std::size_t elements) {
  if (from_type == to_type) {
    std::copy_n(from, elements * h5::bytes_of(from_type), to);
  } else if (from_type == h5::Type::float32) {
    convert<float, double>(from, to, elements);
  } else {
    convert<double, float>(from, to, elements);
  }
}

}  // namespace

template <typename Action>
auto CheckpointReader::on_all(Action action) const {
  std::optional<decltype(action())> result;
  run_collectively(comm_, [&] { result.emplace(action()); });
  return std::move(*result);
}

CheckpointReader::CheckpointReader(MPI_Comm comm, const std::string& path, const char* format)
    : comm_(comm), file_(open_on_all(comm, path)) {
  run_collectively(comm_, [&] {
    root_ = check_root(file_, format);
    contents_ = read_contents(file_, root_);
    std::vector<std::string> names;
    for (const auto& [name, hash] : contents_) {
      if (!name.starts_with('/')) names.push_back(name);
    }
    fields_ = stored_fields(file_, names);
    grid_ = read_grid_lines(file_);
    check();
  });
}

void CheckpointReader::check() const {
  constexpr std::int64_t most_steps = 1'000'000'000'000'000;
  if (step() < 0 || step() > most_steps)
    throw Error(ExitCode::restart, fmt::format("{}: the attribute step of / is damaged: it is {}", path(), step()));
  if (!std::isfinite(time()) || time() < 0)
    throw Error(ExitCode::restart, fmt::format("{}: the attribute time of / is damaged: it is {}", path(), time()));
  if (grid_.shape() != fields_.shape)
    throw Error(ExitCode::restart, path() + ": the coordinates in group /grid do not fit the fields");
}

Values CheckpointReader::values(const std::string& group, Lists lists) const {
  return on_all([&] { return read_values(file_, group, lists); });
}

std::uint64_t CheckpointReader::read_block(const h5::Dataset& dataset, const LocalBlock& block, h5::Type type,
                                           std::byte* data) const {
  const Extents& shape = fields_.shape;
  if (block.global != shape) {
    const auto text = [](const Extents& e) {
      return std::to_string(e[2]) + " x " + std::to_string(e[1]) + " x " + std::to_string(e[0]);
    };
    throw Error(ExitCode::restart, path() + ": holds " + text(shape) + " cells, but the case has " +
                                       text(block.global) +
                                       "; to start from another grid use `initial: {type: checkpoint}`");
  }
  // Reads one layer of pieces at a time, with little memory besides the field.
  const std::size_t stored_bytes = h5::bytes_of(fields_.type);
  const std::int64_t layer = PieceLayout(shape, stored_bytes).box(0).hi[2];
  std::vector<std::byte> buffer;
  std::uint64_t hash = 0;
  for (Box3 box = block.box; !box.empty(); box.lo[2] = box.hi[2], box.hi[2] = block.box.hi[2]) {
    box.hi[2] = std::min(box.hi[2], (box.lo[2] / layer + 1) * layer);
    const std::size_t elements = box.volume();
    buffer.resize(elements * stored_bytes);
    dataset.read(box, fields_.type, buffer.data());
    hash += field_hash(box, shape, stored_bytes, buffer.data());
    convert(fields_.type, buffer.data(), type, data, elements);
    data += elements * h5::bytes_of(type);
  }
  return hash;
}

void CheckpointReader::compare_hash(const std::string& name, std::uint64_t part) const {
  const std::uint64_t hash = sum_over(comm_, part);
  run_collectively(comm_, [&] {
    const auto recorded = contents_.find(name);
    const bool known = recorded != contents_.end() && recorded->second;
    if (hash == (known ? *recorded->second : file_.dataset("/" + name).hash(format::hash))) return;
    throw Error(ExitCode::restart, path() + ": the field " + name +
                                       " is damaged: its values do not have the hash that was stored with them. "
                                       "Restart from another checkpoint (--restart auto picks the newest intact one)");
  });
}

void CheckpointReader::read_field(const std::string& name, const LocalBlock& block, h5::Type type, void* data) const {
  const auto read = [&] {
    const h5::Dataset dataset = field_of(file_, name,
                                         "Restart from a checkpoint that has it, or start afresh from a file that has "
                                         "it, with initial: {type: fields}");
    return read_block(dataset, block, type, static_cast<std::byte*>(data));
  };
  compare_hash(name, on_all(read));
}

void CheckpointReader::verify_field(const std::string& name) const {
  const PieceLayout layout(fields_.shape, h5::bytes_of(fields_.type));
  const int rank = rank_of(comm_);
  const int size = size_of(comm_);
  compare_hash(name, on_all([&] {
                 return hash_of_pieces(file_.dataset("/" + name), layout, layout.first_of(rank, size),
                                       layout.first_of(rank + 1, size));
               }));
}

void CheckpointReader::verify() const {
  const Lists lists = rank_of(comm_) == 0 ? Lists::read : Lists::skip;
  for (const auto& [part, hash] : contents_) {
    if (part.starts_with('/')) values(part, lists);
  }
  for (const std::string& name : fields_.names) verify_field(name);
}

namespace {

h5::Shape shape_of(const Extents& extents) {
  return {extents.begin(), extents.end()};
}

}  // namespace

SnapshotWriter::SnapshotWriter(MPI_Comm comm, SnapshotSpec spec, const LocalBlock& block)
    : comm_(comm), spec_(std::move(spec)), block_(block), writer_(comm, block, h5::bytes_of(spec_.type)) {
  run_on_root(comm_, [&] { prepare_folder(); });
  file_.emplace(comm_, spec_.path, spec_.writer);
  run_on_root(comm_, [&] { write_grid_lines(file_->on_root(), spec_.grid); });
}

void SnapshotWriter::prepare_folder() const {
  SLUICE_REQUIRE(spec_.grid.shape() == block_.global, "the coordinates of a file do not fit its fields");
  const std::filesystem::path path(spec_.path);
  const std::string directory = path.parent_path().string();
  make_directories(directory);
  if (const auto name = parse_numbered_name(path.filename().string()))
    remove_numbered_files(directory, name->prefix, unfinished_suffix);  // those of killed runs
}

void SnapshotWriter::write_field(const FieldDescriptor& field, const void* data) {
  const std::string name = "/" + field.name;
  contents_[field.name] =
      file_->write(name, shape_of(block_.global), spec_.type, writer_, data, [&](h5::Dataset& dataset) {
        set_meaning(dataset, field.long_name, field.units);
        scales_.attach(name, coordinates_of(field.location));
      });
  fields_.push_back(field.name);
}

void SnapshotWriter::write_values(const std::string& group, const Values& values) {
  run_on_root(comm_, [&] { io::write_values(file_->on_root(), group, values); });
  contents_[group] = std::nullopt;
}

void SnapshotWriter::write_root() {
  Values root = root_values(spec_.format, spec_.provenance);
  root.set("step", spec_.step);
  root.set("time", spec_.time);
  set_contents(root, contents_);
  io::write_values(file_->on_root(), "/", root);
  write_time(file_->on_root(), spec_.time);
  scales_.write(file_->on_root());
}

void SnapshotWriter::commit() {
  run_on_root(comm_, [&] { write_root(); });
  file_->commit([&](const std::string& path) { CheckpointReader(comm_, path, spec_.format).verify(); });
}

}  // namespace sluice::io
