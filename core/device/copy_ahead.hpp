#pragma once
// Asynchronous copies into the shared memory of a thread block, with CUDA. With HIP, and on the host, where the
// same code can run thread after thread, they are synchronous.
#include <cstring>

#include "core/support/real.hpp"
#if defined(__CUDACC__) && !defined(SLUICE_HIP)
#include <cuda_pipeline.h>
#endif

namespace sluice {

/// Whether the GPUs of the build copy asynchronously. A kernel that runs on the host takes the same path as on them.
#ifdef SLUICE_HIP
inline constexpr bool copies_are_asynchronous = false;
#else
inline constexpr bool copies_are_asynchronous = true;
#endif

/// Copies 4, 8 or 16 bytes between addresses that are multiples of this size.
template <int Bytes>
SLUICE_INLINE void copy_ahead(void* to, const void* from) {
#if defined(__CUDA_ARCH__) && !defined(SLUICE_HIP)
  __pipeline_memcpy_async(to, from, Bytes);
#elif defined(SLUICE_ON_GPU)
  std::memcpy(__builtin_assume_aligned(to, Bytes), __builtin_assume_aligned(from, Bytes), Bytes);
#else
  std::memcpy(to, from, Bytes);
#endif
}

/// Ends a group of copies of this thread.
SLUICE_INLINE void end_group_of_copies() {
#if defined(__CUDA_ARCH__) && !defined(SLUICE_HIP)
  __pipeline_commit();
#endif
}

/// Waits for all groups of copies of this thread but the last.
SLUICE_INLINE void wait_for_earlier_groups() {
#if defined(__CUDA_ARCH__) && !defined(SLUICE_HIP)
  __pipeline_wait_prior(1);
#endif
}

/// Waits for all copies of this thread. Copies of other threads are complete after a following barrier.
SLUICE_INLINE void wait_for_copies() {
#if defined(__CUDA_ARCH__) && !defined(SLUICE_HIP)
  __pipeline_commit();
  __pipeline_wait_prior(0);
#endif
}

/// Values between memory and shared memory, where copies are not asynchronous: a thread takes them into registers, does
/// other work while they are on their way, and puts them down. Unused with asynchronous copies.
template <class T, int Count>
class TakenAhead {
 public:
  SLUICE_INLINE void take(int n, const void* from) { copy(values_ + n, from); }
  SLUICE_INLINE void put(int n, void* to) const { copy(to, values_ + n); }

 private:
  SLUICE_INLINE static void copy(void* to, const void* from) {
#ifdef SLUICE_ON_GPU
    *static_cast<T*>(to) = *static_cast<const T*>(from);
#else
    std::memcpy(to, from, sizeof(T));
#endif
  }

  T values_[Count];
};

/// Copies the pieces of real values n = 0, 1, ... Count - 1 for which has(n), from from(n) to to(n), as copy_ahead()
/// does. Where it is not asynchronous, several pieces are on their way at the same time.
template <int Bytes, int Count, class Has, class From, class To>
SLUICE_INLINE void copy_several_ahead(const Has& has, const From& from, const To& to) {
  if constexpr (copies_are_asynchronous) {
    SLUICE_UNROLL
    for (int n = 0; n < Count; ++n) {
      if (has(n)) copy_ahead<Bytes>(to(n), from(n));
    }
  } else {
    struct alignas(Bytes) Piece {
      real values[Bytes / sizeof(real)];
    };
    constexpr int several = 8;
    SLUICE_UNROLL
    for (int first = 0; first < Count; first += several) {
      TakenAhead<Piece, several> taken;
      SLUICE_UNROLL
      for (int n = 0; n < several; ++n) {
        if (first + n < Count && has(first + n)) taken.take(n, from(first + n));
      }
      SLUICE_UNROLL
      for (int n = 0; n < several; ++n) {
        if (first + n < Count && has(first + n)) taken.put(n, to(first + n));
      }
    }
  }
}

}  // namespace sluice
