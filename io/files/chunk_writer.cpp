#include "io/files/chunk_writer.hpp"

#include <algorithm>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice::io {

namespace {

constexpr std::size_t checksum_bytes = 4;
constexpr int message_tag = 7311;

}  // namespace

std::uint32_t fletcher32(const std::byte* data, std::size_t bytes) {
  std::uint32_t sum1 = 0;
  std::uint32_t sum2 = 0;
  const auto fold = [](std::uint32_t sum) { return (sum & 0xffffU) + (sum >> 16); };
  const auto byte = [data](std::size_t n) { return static_cast<std::uint32_t>(data[n]); };
  std::size_t n = 0;
  while (n + 1 < bytes) {
    const std::size_t stop = std::min(bytes - bytes % 2, n + 720);  // 360 words: no overflow before the fold
    for (; n < stop; n += 2) {
      sum1 += byte(n) << 8 | byte(n + 1);
      sum2 += sum1;
    }
    sum1 = fold(sum1);
    sum2 = fold(sum2);
  }
  if (n < bytes) {
    sum1 += byte(n) << 8;
    sum2 += sum1;
    sum1 = fold(sum1);
    sum2 = fold(sum2);
  }
  return fold(sum2) << 16 | fold(sum1);
}

ChunkWriter::ChunkWriter(MPI_Comm comm, const LocalBlock& block, std::size_t element_bytes, std::size_t window_bytes)
    : comm_(comm), block_(block), element_bytes_(element_bytes), layout_(block.global, element_bytes_) {
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  chunks_per_window_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(window_bytes / layout_.chunk_bytes()));
  for (int rank = 0; rank < size_; ++rank) {
    const std::int64_t owned = layout_.first_of(rank + 1, size_) - layout_.first_of(rank, size_);
    rounds_ = std::max(rounds_, (owned + chunks_per_window_ - 1) / chunks_per_window_);
  }
  gather_blocks();
}

void ChunkWriter::gather_blocks() {
  constexpr int words = sizeof(LocalBlock) / sizeof(std::int64_t);
  std::vector<LocalBlock> blocks(static_cast<std::size_t>(size_));
  check_mpi(MPI_Allgather(&block_, words, MPI_INT64_T, blocks.data(), words, MPI_INT64_T, comm_), "MPI_Allgather");
  std::int64_t volume = 0;
  for (const LocalBlock& block : blocks) {
    SLUICE_REQUIRE(block.global == block_.global, "ranks disagree on the shape of a field");
    boxes_.push_back(block.box);
    volume += block.box.volume();
  }
  SLUICE_REQUIRE(volume == block_.global[0] * block_.global[1] * block_.global[2],
                 "the blocks of all ranks do not make up the field");
}

std::size_t ChunkWriter::stride() const {
  return layout_.chunk_bytes() + checksum_bytes;
}

ChunkWriter::Window ChunkWriter::window_of(int rank, std::int64_t round) const {
  const std::int64_t end = layout_.first_of(rank + 1, size_);
  const std::int64_t begin = std::min(end, layout_.first_of(rank, size_) + round * chunks_per_window_);
  return {begin, std::min(end, begin + chunks_per_window_)};
}

std::size_t ChunkWriter::piece_bytes(const Window& window, int holder) const {
  std::int64_t elements = 0;
  const Box3& held = boxes_[static_cast<std::size_t>(holder)];
  for (std::int64_t n = window.begin; n < window.end; ++n) elements += intersect(layout_.box(n), held).volume();
  return static_cast<std::size_t>(elements) * element_bytes_;
}

void ChunkWriter::pack(const Window& window, const std::byte* data, std::byte* message) const {
  for (std::int64_t n = window.begin; n < window.end; ++n) {
    const Box3 piece = intersect(layout_.box(n), block_.box);
    copy_box(piece, data, block_.box, message, piece, element_bytes_);
    message += static_cast<std::size_t>(piece.volume()) * element_bytes_;
  }
}

void ChunkWriter::unpack(const Window& window, int holder, const std::byte* message) {
  for (std::int64_t n = window.begin; n < window.end; ++n) {
    const Box3 piece = intersect(layout_.box(n), boxes_[static_cast<std::size_t>(holder)]);
    std::byte* chunk = window_data_.data() + static_cast<std::size_t>(n - window.begin) * stride();
    copy_box(piece, message, piece, chunk, layout_.full_box(n), element_bytes_);
    message += static_cast<std::size_t>(piece.volume()) * element_bytes_;
  }
}

void ChunkWriter::allocate(std::int64_t round) {
  const Window mine = window_of(rank_, round);
  // Elements beyond the edge are zero, so that equal fields give equal files.
  window_data_.assign(static_cast<std::size_t>(mine.end - mine.begin) * stride(), {});
  const auto ranks = static_cast<std::size_t>(size_);
  sent_.resize(ranks);
  received_.resize(ranks);
  requests_.reserve(2 * ranks);
  for (int rank = 0; rank < size_; ++rank) {
    const std::size_t outgoing = rank == rank_ ? 0 : piece_bytes(window_of(rank, round), rank_);
    sent_[static_cast<std::size_t>(rank)].resize(outgoing);
    received_[static_cast<std::size_t>(rank)].resize(piece_bytes(mine, rank));
  }
}

void ChunkWriter::exchange(std::int64_t round, const std::byte* data) {
  requests_.clear();
  for (int step = 1; step < size_; ++step) {
    const int source = (rank_ + step) % size_;
    auto& message = received_[static_cast<std::size_t>(source)];
    if (message.empty()) continue;
    MPI_Irecv(message.data(), static_cast<int>(message.size()), MPI_BYTE, source, message_tag, comm_,
              &requests_.emplace_back());
  }
  const Window mine = window_of(rank_, round);
  pack(mine, data, received_[static_cast<std::size_t>(rank_)].data());
  for (int step = 1; step < size_; ++step) {
    const int target = (rank_ + step) % size_;
    auto& message = sent_[static_cast<std::size_t>(target)];
    if (message.empty()) continue;
    pack(window_of(target, round), data, message.data());
    MPI_Isend(message.data(), static_cast<int>(message.size()), MPI_BYTE, target, message_tag, comm_,
              &requests_.emplace_back());
  }
  check_mpi(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  for (int source = 0; source < size_; ++source) {
    unpack(mine, source, received_[static_cast<std::size_t>(source)].data());
  }
}

void ChunkWriter::write_window(const Window& window, const std::vector<std::uint64_t>& addresses, PosixFile& file) {
  for (std::int64_t n = window.begin; n < window.end; ++n) {
    std::byte* chunk = window_data_.data() + static_cast<std::size_t>(n - window.begin) * stride();
    const std::uint32_t checksum = fletcher32(chunk, layout_.chunk_bytes());
    for (std::size_t byte = 0; byte < checksum_bytes; ++byte) {
      chunk[layout_.chunk_bytes() + byte] = static_cast<std::byte>(checksum >> (8 * byte) & 0xffU);
    }
  }
  for (std::int64_t n = window.begin; n < window.end;) {
    const std::int64_t first = n++;
    const std::uint64_t address = addresses[static_cast<std::size_t>(first)];
    const auto follows = [&] {
      return addresses[static_cast<std::size_t>(n)] == address + static_cast<std::uint64_t>(n - first) * stride();
    };
    while (n < window.end && follows()) ++n;
    file.write_at(address, window_data_.data() + static_cast<std::size_t>(first - window.begin) * stride(),
                  static_cast<std::size_t>(n - first) * stride());
  }
}

void ChunkWriter::write(const std::vector<std::uint64_t>& addresses, const void* data, PosixFile& file) {
  const auto* bytes = static_cast<const std::byte*>(data);
  for (std::int64_t round = 0; round < rounds_; ++round) {
    run_collectively(comm_, [&] { allocate(round); });
    exchange(round, bytes);
    run_collectively(comm_, [&] { write_window(window_of(rank_, round), addresses, file); });
  }
}

}  // namespace sluice::io
