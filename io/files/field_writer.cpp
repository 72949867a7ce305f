#include "io/files/field_writer.hpp"

#include <algorithm>
#include <limits>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "io/files/hashes.hpp"
#include "io/files/local_block.hpp"

namespace sluice::io {

namespace {

constexpr int message_tag = 7311;

}  // namespace

FieldWriter::FieldWriter(MPI_Comm comm, const LocalBlock& block, std::size_t element_bytes, std::size_t window_bytes)
    : comm_(comm),
      rank_(rank_of(comm)),
      size_(size_of(comm)),
      block_(block),
      element_bytes_(element_bytes),
      layout_(block.global, element_bytes_) {
  pieces_per_window_ = std::max<std::int64_t>(1, window_bytes / layout_.piece_bytes());
  for (int rank = 0; rank < size_; ++rank) {
    const std::int64_t owned = layout_.first_of(rank + 1, size_) - layout_.first_of(rank, size_);
    rounds_ = std::max(rounds_, (owned + pieces_per_window_ - 1) / pieces_per_window_);
  }
  gather_blocks();
}

std::uint64_t FieldWriter::hash(const void* data) const {
  return field_hash(block_.box, block_.global, element_bytes_, data);
}

void FieldWriter::gather_blocks() {
  constexpr int words = sizeof(LocalBlock) / sizeof(std::int64_t);
  std::vector<LocalBlock> blocks(size_, block_);
  if (size_ > 1)
    check_mpi(MPI_Allgather(&block_, words, MPI_INT64_T, blocks.data(), words, MPI_INT64_T, comm_), "MPI_Allgather");
  std::int64_t volume = 0;
  for (const LocalBlock& block : blocks) {
    SLUICE_REQUIRE(block.global == block_.global, "ranks disagree on the shape of a field");
    boxes_.push_back(block.box);
    volume += block.box.volume();
  }
  const Box3 whole = whole_box(block_.global);
  contiguous_ = std::ranges::all_of(boxes_, [&](const Box3& box) {
    const bool whole_planes = box.extent(1) == whole.extent(1) || box.extent(2) == 1;
    return box.empty() || (box.extent(0) == whole.extent(0) && whole_planes);
  });
  SLUICE_REQUIRE(volume == block_.global[0] * block_.global[1] * block_.global[2],
                 "the blocks of all ranks do not make up the field");
}

void FieldWriter::write_own_block(std::uint64_t address, const std::byte* data, PosixFile& file) const {
  if (block_.box.empty()) return;
  const std::int64_t row = block_.box.lo[2] * block_.global[1] + block_.box.lo[1];
  file.write_at(address + row * block_.global[2] * element_bytes_, data, block_.box.volume() * element_bytes_);
}

FieldWriter::Window FieldWriter::window_of(int rank, std::int64_t round) const {
  const std::int64_t end = layout_.first_of(rank + 1, size_);
  const std::int64_t begin = std::min(end, layout_.first_of(rank, size_) + round * pieces_per_window_);
  return {begin, std::min(end, begin + pieces_per_window_)};
}

std::size_t FieldWriter::message_bytes(const Window& window, int holder) const {
  std::int64_t elements = 0;
  const Box3& held = boxes_[holder];
  for (std::int64_t n = window.begin; n < window.end; ++n) elements += intersect(layout_.box(n), held).volume();
  return elements * element_bytes_;
}

void FieldWriter::pack(const Window& window, const std::byte* data, std::byte* message) const {
  for (std::int64_t n = window.begin; n < window.end; ++n) {
    const Box3 piece = intersect(layout_.box(n), block_.box);
    copy_box(piece, data, block_.box, message, piece, element_bytes_);
    message += piece.volume() * element_bytes_;
  }
}

void FieldWriter::unpack(const Window& window, int holder, const std::byte* message) {
  for (std::int64_t n = window.begin; n < window.end; ++n) {
    const Box3 piece = intersect(layout_.box(n), boxes_[holder]);
    std::byte* to = window_data_.data() + layout_.offset(n) - layout_.offset(window.begin);
    copy_box(piece, message, piece, to, layout_.box(n), element_bytes_);
    message += piece.volume() * element_bytes_;
  }
}

void FieldWriter::allocate(std::int64_t round) {
  const Window mine = window_of(rank_, round);
  window_data_.resize(layout_.offset(mine.end) - layout_.offset(mine.begin));
  const std::size_t ranks = size_;
  sent_.resize(ranks);
  received_.resize(ranks);
  requests_.reserve(2 * ranks);
  for (int rank = 0; rank < size_; ++rank) {
    const std::size_t outgoing = rank == rank_ ? 0 : message_bytes(window_of(rank, round), rank_);
    sent_[rank].resize(outgoing);
    received_[rank].resize(message_bytes(mine, rank));
  }
}

void FieldWriter::exchange(std::int64_t round, const std::byte* data) {
  requests_.clear();
  for (int step = 1; step < size_; ++step) {
    const int source = (rank_ + step) % size_;
    auto& message = received_[source];
    if (message.empty()) continue;
    check_mpi(MPI_Irecv(message.data(), static_cast<int>(message.size()), MPI_BYTE, source, message_tag, comm_,
                        &requests_.emplace_back()),
              "MPI_Irecv");
  }
  const Window mine = window_of(rank_, round);
  pack(mine, data, received_[rank_].data());
  for (int step = 1; step < size_; ++step) {
    const int target = (rank_ + step) % size_;
    auto& message = sent_[target];
    if (message.empty()) continue;
    pack(window_of(target, round), data, message.data());
    check_mpi(MPI_Isend(message.data(), static_cast<int>(message.size()), MPI_BYTE, target, message_tag, comm_,
                        &requests_.emplace_back()),
              "MPI_Isend");
  }
  check_mpi(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  for (int source = 0; source < size_; ++source) {
    unpack(mine, source, received_[source].data());
  }
}

void FieldWriter::write(std::uint64_t address, const void* data, PosixFile& file) {
  const auto* bytes = static_cast<const std::byte*>(data);
  if (contiguous_) {
    run_collectively(comm_, [&] { write_own_block(address, bytes, file); });
    return;
  }
  for (std::int64_t round = 0; round < rounds_; ++round) {
    run_collectively(comm_, [&] { allocate(round); });
    exchange(round, bytes);
    const std::uint64_t begin = address + layout_.offset(window_of(rank_, round).begin);
    run_collectively(comm_, [&] { file.write_at(begin, window_data_.data(), window_data_.size()); });
  }
}

void FieldWriter::write(h5::ParallelFile& file, const std::string& dataset, const void* data,
                        std::int64_t call_bytes) const {
  std::int64_t calls = 1;  // the same on all ranks
  for (const Box3& box : boxes_) {
    const std::int64_t bytes = box.volume() * static_cast<std::int64_t>(element_bytes_);
    calls = std::max(calls, (bytes + call_bytes - 1) / call_bytes);
  }
  const auto* next = static_cast<const std::byte*>(data);
  const std::int64_t planes = block_.box.extent(2);
  for (std::int64_t call = 0; call < calls; ++call) {
    Box3 part = block_.box;
    part.hi[2] = part.lo[2] + planes * (call + 1) / calls;
    part.lo[2] += planes * call / calls;
    file.write(dataset, part, next);
    next += part.volume() * element_bytes_;
  }
}

std::vector<std::byte> gather_box(MPI_Comm comm, const Box3& box, const Box3& piece, h5::Type type, const void* data,
                                  std::int64_t samples) {
  if (samples * box.volume() > std::numeric_limits<int>::max())
    throw Error(ExitCode::io, "a slice or the samples of a probe have more than 2^31 values");
  const std::size_t element_bytes = h5::bytes_of(type);
  const bool root = rank_of(comm) == 0;
  std::vector<Box3> pieces(root ? static_cast<std::size_t>(size_of(comm)) : 0);
  constexpr int words = sizeof(Box3) / sizeof(std::int64_t);
  check_mpi(MPI_Gather(&piece, words, MPI_INT64_T, pieces.data(), words, MPI_INT64_T, 0, comm), "MPI_Gather");
  std::vector<int> counts;
  std::vector<int> offsets;
  int total = 0;
  for (const Box3& part : pieces) {
    counts.push_back(static_cast<int>(samples * part.volume()));
    offsets.push_back(total);
    total += counts.back();
  }

  std::vector<std::byte> received;
  std::vector<std::byte> result;
  run_on_root(comm, [&] {
    received.resize(total * element_bytes);
    result.resize(received.size());
  });
  const MPI_Datatype element = type == h5::Type::float32 ? MPI_FLOAT : MPI_DOUBLE;
  check_mpi(MPI_Gatherv(data, static_cast<int>(samples * piece.volume()), element, received.data(), counts.data(),
                        offsets.data(), element, 0, comm),
            "MPI_Gatherv");
  const std::size_t box_bytes = box.volume() * element_bytes;
  const std::byte* values = received.data();
  for (const Box3& part : pieces) {
    for (std::int64_t n = 0; n < samples; ++n) {
      copy_box(part, values, part, result.data() + n * box_bytes, box, element_bytes);
      values += part.volume() * element_bytes;
    }
  }
  return result;
}

}  // namespace sluice::io
