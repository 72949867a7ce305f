#pragma once
// Copies into the shared memory of a GPU's block of threads that go on while the program does. On the host, where the
// same code can run thread after thread, they are done at once.
#include <cstring>

#include "core/support/real.hpp"
#ifdef __CUDACC__
#include <cuda_pipeline.h>
#endif

namespace sluice {

/// 4, 8 or 16 bytes, from and to multiples of their number.
template <int Bytes>
SLUICE_INLINE void copy_ahead(void* to, const void* from) {
#ifdef __CUDA_ARCH__
  __pipeline_memcpy_async(to, from, Bytes);
#else
  std::memcpy(to, from, Bytes);
#endif
}

/// Waits for all copies of this thread. Those of others are there once all threads have met after that.
SLUICE_INLINE void wait_for_copies() {
#ifdef __CUDA_ARCH__
  __pipeline_commit();
  __pipeline_wait_prior(0);
#endif
}

}  // namespace sluice
