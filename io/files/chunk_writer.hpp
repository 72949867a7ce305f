#pragma once
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "io/files/chunk_layout.hpp"
#include "io/files/posix_file.hpp"

namespace sluice::io {

/// Writes a distributed field into the chunks of an HDF5 dataset whose file space is already allocated. Every rank
/// handles an equal range of chunks: it collects their elements from the ranks that hold them, adds the checksum, and
/// writes them at their file addresses. All failures are detected by plain system calls on the rank where they happen
/// and reported on every rank; no rank waits for one that failed. Memory besides the field: `window_bytes` for the
/// chunks and as much for messages.
class ChunkWriter {
 public:
  /// Throws Error(internal) unless the blocks of all ranks make up the global array. Collective.
  ChunkWriter(MPI_Comm comm, const LocalBlock& block, std::size_t element_bytes,
              std::size_t window_bytes = default_window);

  const ChunkLayout& layout() const { return layout_; }
  std::size_t stride() const;  ///< bytes of a chunk in the file, including its checksum

  /// `addresses`: file address of each chunk in bytes. `data`: this rank's block. Collective. Throws Error(io) on every
  /// rank.
  void write(const std::vector<std::uint64_t>& addresses, const void* data, PosixFile& file);

 private:
  static constexpr std::size_t default_window = std::size_t{16} << 20;

  struct Window {
    std::int64_t begin;
    std::int64_t end;  ///< chunks [begin, end)
  };

  void gather_blocks();
  Window window_of(int rank, std::int64_t round) const;
  std::size_t piece_bytes(const Window& window, int holder) const;
  void allocate(std::int64_t round);
  void pack(const Window& window, const std::byte* data, std::byte* message) const;
  void unpack(const Window& window, int holder, const std::byte* message);
  void exchange(std::int64_t round, const std::byte* data);
  void write_window(const Window& window, const std::vector<std::uint64_t>& addresses, PosixFile& file);

  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 1;
  LocalBlock block_;
  std::size_t element_bytes_;
  ChunkLayout layout_;
  std::int64_t chunks_per_window_;
  std::int64_t rounds_ = 0;
  std::vector<Box3> boxes_;  ///< the part of each rank
  std::vector<std::byte> window_data_;
  std::vector<std::vector<std::byte>> sent_, received_;  ///< by rank; elements that stay here are in received_ only
  std::vector<MPI_Request> requests_;
};

/// The checksum that HDF5's fletcher32 filter appends to each chunk, least significant byte first.
std::uint32_t fletcher32(const std::byte* data, std::size_t bytes);

}  // namespace sluice::io
