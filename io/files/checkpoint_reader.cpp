#include "io/files/checkpoint_reader.hpp"

#include <algorithm>
#include <optional>

#include "core/support/collective.hpp"
#include "io/files/checkpoint_format.hpp"
#include "io/files/chunk_layout.hpp"
#include "io/files/field_hash.hpp"

namespace sluice::io {

namespace {

h5::File open_on_all(MPI_Comm comm, const std::string& path) {
  std::optional<h5::File> file;
  run_collectively(comm, [&] { file.emplace(h5::File::open(path, ExitCode::restart)); });
  return std::move(*file);
}

h5::Type type_of(Precision precision) {
  return precision == Precision::single_ ? h5::Type::float32 : h5::Type::float64;
}

template <typename From, typename To>
void convert(const std::byte* from, std::byte* to, std::size_t elements) {
  const auto* source = reinterpret_cast<const From*>(from);
  auto* target = reinterpret_cast<To*>(to);
  std::transform(source, source + elements, target, [](From value) { return static_cast<To>(value); });
}

void convert(Precision from_precision, const std::byte* from, Precision to_precision, std::byte* to,
             std::size_t elements) {
  if (from_precision == to_precision) {
    std::copy_n(from, elements * bytes_of(from_precision), to);
  } else if (from_precision == Precision::single_) {
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

CheckpointReader::CheckpointReader(MPI_Comm comm, const std::string& path)
    : comm_(comm), file_(open_on_all(comm, path)) {
  run_collectively(comm_, [&] { open_fields(); });
}

void CheckpointReader::open_fields() {
  root_ = check_root(file_, format::checkpoint);
  for (const std::string& name : file_.group("/").datasets()) {
    const h5::Dataset dataset = file_.dataset("/" + name);
    const h5::Shape shape = dataset.shape();
    if (shape.size() != 3) continue;
    const Extents extents{shape[0], shape[1], shape[2]};
    if (!fields_.empty() && extents != shape_) {
      throw Error(ExitCode::restart, path() + ": the fields " + fields_.front() + " and " + name + " differ in shape");
    }
    shape_ = extents;
    precision_ = dataset.element_bytes() == 4 ? Precision::single_ : Precision::double_;
    fields_.push_back(name);
  }
}

GridLines CheckpointReader::grid() const {
  return on_all([&] { return read_grid_lines(file_); });
}

std::vector<std::string> CheckpointReader::value_groups() const {
  return on_all([&] {
    std::vector<std::string> groups;
    for (const std::string& name : file_.group("/").groups()) {
      if (holds_values(file_.group("/" + name))) groups.push_back("/" + name);
    }
    return groups;
  });
}

bool CheckpointReader::has_values(const std::string& group) const {
  return on_all([&] { return file_.has(group); });
}

Values CheckpointReader::values(const std::string& group) const {
  return on_all([&] { return read_values(file_, group); });
}

std::uint64_t CheckpointReader::read_block(const h5::Dataset& dataset, const LocalBlock& block, Precision precision,
                                           std::byte* data) const {
  if (block.global != shape_) {
    const auto text = [](const Extents& e) {
      return std::to_string(e[2]) + " x " + std::to_string(e[1]) + " x " + std::to_string(e[0]);
    };
    throw Error(ExitCode::restart, path() + ": holds " + text(shape_) + " cells, but the case has " +
                                       text(block.global) +
                                       "; to start from another grid use `initial: {type: checkpoint}`");
  }
  // Reads one layer of chunks at a time: each chunk once, with little memory besides the field.
  const std::int64_t layer = ChunkLayout(shape_, bytes_of(precision_)).chunk()[0];
  std::vector<std::byte> buffer;
  std::uint64_t hash = 0;
  const Box3 held = box_of(block);
  for (std::int64_t k = held.lo[2]; k < held.hi[2] && !block.empty();) {
    Box3 box = held;
    box.lo[2] = k;
    box.hi[2] = k = std::min(held.hi[2], (k / layer + 1) * layer);
    const auto elements = static_cast<std::size_t>(box.volume());
    buffer.resize(elements * bytes_of(precision_));
    dataset.read({box.lo[2], box.lo[1], box.lo[0]}, {box.extent(2), box.extent(1), box.extent(0)}, type_of(precision_),
                 buffer.data());
    hash += field_hash(box, shape_, precision_, buffer.data());
    convert(precision_, buffer.data(), precision, data, elements);
    data += elements * bytes_of(precision);
  }
  return hash;
}

std::uint64_t CheckpointReader::hash_share(const h5::Dataset& dataset) const {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(comm_, &rank);
  MPI_Comm_size(comm_, &size);
  const ChunkLayout layout(shape_, bytes_of(precision_));
  std::vector<std::byte> buffer(layout.chunk_bytes());
  std::uint64_t hash = 0;
  for (std::int64_t n = layout.first_of(rank, size); n < layout.first_of(rank + 1, size); ++n) {
    const Box3 box = layout.box(n);
    dataset.read({box.lo[2], box.lo[1], box.lo[0]}, {box.extent(2), box.extent(1), box.extent(0)}, type_of(precision_),
                 buffer.data());
    hash += field_hash(box, shape_, precision_, buffer.data());
  }
  return hash;
}

void CheckpointReader::compare_hash(const std::string& name, std::uint64_t part) const {
  std::uint64_t hash = 0;
  check_mpi(MPI_Allreduce(&part, &hash, 1, MPI_UINT64_T, MPI_SUM, comm_), "MPI_Allreduce");
  run_collectively(comm_, [&] {
    if (file_.dataset("/" + name).hash(format::hash) == hash) return;
    throw Error(ExitCode::restart,
                path() + ": the field " + name +
                    " is damaged: its values do not have the hash that was stored with them. Restart from "
                    "another checkpoint (--restart auto picks the newest intact one)");
  });
}

void CheckpointReader::read_field(const std::string& name, const LocalBlock& block, Precision precision,
                                  void* data) const {
  const std::uint64_t part =
      on_all([&] { return read_block(file_.dataset("/" + name), block, precision, static_cast<std::byte*>(data)); });
  compare_hash(name, part);
}

void CheckpointReader::verify_field(const std::string& name) const {
  compare_hash(name, on_all([&] { return hash_share(file_.dataset("/" + name)); }));
}

}  // namespace sluice::io
