#pragma once
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/support/box3.hpp"
#include "io/files/hdf5.hpp"
#include "io/files/hdf5_parallel.hpp"
#include "io/files/local_block.hpp"
#include "io/files/posix_file.hpp"

namespace sluice::io {

/// Writes a distributed field, row-major, into a reserved range of a file.
class FieldWriter {
 public:
  /// Throws Error(internal) unless the blocks of all ranks make up the global array. Collective.
  FieldWriter(MPI_Comm comm, const LocalBlock& block, std::size_t element_bytes,
              std::size_t window_bytes = default_window);

  /// Bytes of the whole field.
  std::size_t bytes() const { return layout_.offset(layout_.count()); }

  /// This rank's part of the field's hash. `data`: its block. Local.
  std::uint64_t hash(const void* data) const;

  /// Writes by system calls. If every rank's block is contiguous in the file, as with z slabs, each rank writes its
  /// own. Otherwise every rank handles an equal range of pieces: it collects their elements from the ranks that hold
  /// them, so that it still writes long contiguous ranges. Every failure is detected on the rank where it happens and
  /// reported on every rank; no rank waits for one that failed. Memory besides the field: none for contiguous blocks,
  /// otherwise twice `window_bytes`. `address`: where the field begins in the file. `data`: this rank's block.
  /// Collective. Throws Error(io) on every rank.
  void write(std::uint64_t address, const void* data, PosixFile& file);

  /// Writes through HDF5, whose collective writes take at most `call_bytes` of each rank. `dataset`: the field in the
  /// file. `data`: this rank's block. Collective. Throws Error(io) on every rank.
  void write(h5::ParallelFile& file, const std::string& dataset, const void* data,
             std::int64_t call_bytes = default_call) const;

 private:
  static constexpr std::size_t default_window = std::size_t{16} << 20;
  static constexpr std::int64_t default_call = std::int64_t{1} << 30;  ///< counts of MPI-IO have 32 bits

  struct Window {
    std::int64_t begin;
    std::int64_t end;  ///< pieces [begin, end)
  };

  void gather_blocks();
  void write_own_block(std::uint64_t address, const std::byte* data, PosixFile& file) const;
  Window window_of(int rank, std::int64_t round) const;
  std::size_t message_bytes(const Window& window, int holder) const;
  void allocate(std::int64_t round);
  void pack(const Window& window, const std::byte* data, std::byte* message) const;
  void unpack(const Window& window, int holder, const std::byte* message);
  void exchange(std::int64_t round, const std::byte* data);

  MPI_Comm comm_;
  int rank_;
  int size_;
  LocalBlock block_;
  std::size_t element_bytes_;
  PieceLayout layout_;
  std::int64_t pieces_per_window_;
  std::int64_t rounds_ = 0;
  std::vector<Box3> boxes_;  ///< the block of each rank
  bool contiguous_ = false;  ///< every rank's block is
  std::vector<std::byte> window_data_;
  std::vector<std::vector<std::byte>> sent_, received_;  ///< by rank; elements that stay here are in received_ only
  std::vector<MPI_Request> requests_;
};

/// Collects a box of a distributed array, row-major. `piece`: the rank's part of the box, which may be empty; `data`:
/// its elements in host memory, contiguous, of type float32 or float64. With `samples` > 1, so many states of the array
/// one after the other, in `data` and in the result. Collective; the result is on rank 0, empty elsewhere. Throws
/// Error(io) on every rank if there are more than 2^31 values.
std::vector<std::byte> gather_box(MPI_Comm comm, const Box3& box, const Box3& piece, h5::Type type, const void* data,
                                  std::int64_t samples = 1);

}  // namespace sluice::io
