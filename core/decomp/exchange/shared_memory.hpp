#pragma once
#include <mpi.h>

#include <cstddef>
#include <vector>

namespace sluice {

/// Zeroed device memory of equal size on every rank of a host, mapped into all these ranks: by CUDA IPC, or in a CPU
/// build as POSIX shared memory. Construction is collective, and so is destruction on GPUs.
class SharedMemory {
 public:
  SharedMemory() = default;
  /// `bytes` on each rank of `world`, which must outlive this object. Throws Error(resources), on every rank, if memory
  /// is short or a mapping is refused.
  SharedMemory(MPI_Comm world, std::size_t bytes);
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  /// The address at which loops on this rank access the memory of `rank`.
  std::byte* of(int rank) const { return mapped_[static_cast<std::size_t>(rank)]; }
  std::size_t bytes() const { return bytes_; }  ///< on each rank

 private:
  void give_back();  ///< collective on GPUs

  MPI_Comm world_ = MPI_COMM_NULL;
  std::size_t bytes_ = 0;
  std::byte* own_ = nullptr;
  std::vector<std::byte*> mapped_;  ///< by rank; own_ among them
};

/// Throws Error(resources), on all ranks, unless the ranks of `host` can share memory; on GPUs each rank needs one of
/// its own that has access to all others. Collective.
void require_shared_memory(MPI_Comm host);

}  // namespace sluice
