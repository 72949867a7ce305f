#pragma once
// What GPUs of the vendor offer, as far as kernels and their launches depend on it. How much of it each kernel takes is
// in tuning.hpp.
#include <cstddef>

namespace sluice::device {

inline constexpr int warp = 32;                    ///< threads that run together
inline constexpr int memory_line = 128;            ///< bytes of one access of a warp to memory, or to all banks on chip
inline constexpr int memory_sector = 32;           ///< bytes: the smallest piece that is moved
inline constexpr int widest_access = 16;           ///< bytes that a thread reads, writes or copies at once
inline constexpr int registers = 65536;            ///< of a multiprocessor, 4 bytes each
inline constexpr int max_blocks_along_yz = 65535;  ///< thread blocks of a launch along y, and along z
#ifdef SLUICE_HIP
inline constexpr std::size_t bytes_of_arguments = 4032;  ///< of a kernel, of which HIP takes 4096
#else
inline constexpr std::size_t bytes_of_arguments = 32704;  ///< of a kernel, of which CUDA takes 32764
#endif
inline constexpr int cluster_of_any = 8;  ///< thread blocks of a cluster, on every GPU that has clusters

/// The multiprocessors of this rank's GPU: their number, and what each of them has.
struct Multiprocessors {
  int count = 0;
  std::size_t shared_bytes = 0;               ///< shared memory
  std::size_t max_shared_bytes_of_block = 0;  ///< the largest part that one thread block can take
  std::size_t reserved_bytes_of_block = 0;    ///< which the system takes for each thread block
};

/// Only in a GPU build. Local.
const Multiprocessors& multiprocessors();

/// How many thread blocks of this rank's GPU can share their shared memory; 1 if it has no clusters, and on CPUs.
int max_thread_blocks_together();

}  // namespace sluice::device
