#include "core/device/small_copies_cuda.hpp"

#include <cstdint>

#include "core/device/launch_cuda.hpp"

namespace sluice::cuda {

namespace {

constexpr unsigned threads = 128;

/// T: of the size that both addresses are multiples of. Host memory answers late, so each thread asks for a piece
/// alone.
template <class T>
struct Copy {
  static constexpr Bounds bounds{threads};
  T* to;
  const T* from;
  std::size_t count;

  __device__ void operator()(const uint3& block) const {
    const std::size_t n = std::size_t{block.x} * threads + threadIdx.x;
    if (n < count) to[n] = from[n];
  }
};

template <class T>
bool copied_as(void* to, const void* from, std::size_t bytes) {
  const std::uintptr_t all = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from) | bytes;
  if (all % sizeof(T) != 0) return false;
  const std::size_t count = bytes / sizeof(T);
  launch("copy", {dim3(static_cast<unsigned>((count + threads - 1) / threads)), dim3(threads)},
         Copy<T>{static_cast<T*>(to), static_cast<const T*>(from), count});
  return true;
}

struct SetToZero {
  static constexpr Bounds bounds{threads};
  unsigned long long* to;
  std::size_t words;

  __device__ void operator()(const uint3& block) const {
    const std::size_t n = std::size_t{block.x} * threads + threadIdx.x;
    if (n < words) to[n] = 0;
  }
};

}  // namespace

void copy_by_kernel(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  copied_as<uint4>(to, from, bytes) || copied_as<std::uint64_t>(to, from, bytes) ||
      copied_as<unsigned char>(to, from, bytes);
}

void set_to_zero(unsigned long long* to, std::size_t words) {
  if (words == 0) return;
  launch("zero", {dim3(static_cast<unsigned>((words + threads - 1) / threads)), dim3(threads)}, SetToZero{to, words});
}

}  // namespace sluice::cuda
