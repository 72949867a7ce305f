#pragma once
// Asynchronous copies into the shared memory of an NVIDIA GPU's thread block. On other GPUs, and on the host, where the
// same code can run thread after thread, they are synchronous.
#include <cstring>

#include "core/support/real.hpp"
#ifdef __CUDACC__
#include <cuda_pipeline.h>
#endif

namespace sluice {

/// Copies 4, 8 or 16 bytes between addresses that are multiples of this size.
template <int Bytes>
SLUICE_INLINE void copy_ahead(void* to, const void* from) {
#ifdef __CUDA_ARCH__
  __pipeline_memcpy_async(to, from, Bytes);
#elif defined(SLUICE_ON_GPU)
  std::memcpy(__builtin_assume_aligned(to, Bytes), __builtin_assume_aligned(from, Bytes), Bytes);
#else
  std::memcpy(to, from, Bytes);
#endif
}

/// Ends a group of copies of this thread.
SLUICE_INLINE void end_group_of_copies() {
#ifdef __CUDA_ARCH__
  __pipeline_commit();
#endif
}

/// Waits for all groups of copies of this thread but the last.
SLUICE_INLINE void wait_for_earlier_groups() {
#ifdef __CUDA_ARCH__
  __pipeline_wait_prior(1);
#endif
}

/// Waits for all copies of this thread. Copies of other threads are complete after a following barrier.
SLUICE_INLINE void wait_for_copies() {
#ifdef __CUDA_ARCH__
  __pipeline_commit();
  __pipeline_wait_prior(0);
#endif
}

}  // namespace sluice
