#pragma once
// Memory of the device that runs the loops: the host itself in a CPU build, a GPU in a GPU build.
#include <cstddef>
#include <memory>
#include <string>

namespace sluice::device {

/// True in a build whose loops run on a GPU.
bool is_gpu();

/// "NVIDIA H200 (139.7 GiB), host memory on NUMA node 0", or the host's processor.
std::string description();

/// Free device memory in bytes. In a CPU build, the memory that the operating system can provide.
std::size_t free_memory();

/// Zeroed device memory. Throws Error(resources) naming the size when there is not enough.
void* allocate(std::size_t bytes);
void release(void* pointer) noexcept;

/// Keeps an array of allocate() for code that may use it after its owner is gone: release() then frees nothing, and the
/// array is freed with its last holder. Until then it counts as allocated.
std::shared_ptr<void> hold(void* pointer);

/// Zeroed host memory that the device can copy from and to quickly: in a GPU build page-locked, on the GPU's NUMA node
/// if the system allows that. The environment variable SLUICE_NUMA_PLACEMENT=0 leaves the place to the system.
void* allocate_host(std::size_t bytes);
void release_host(void* pointer) noexcept;

struct ReleaseHost {
  void operator()(void* pointer) const noexcept { release_host(pointer); }
};
/// Owns memory of allocate_host().
template <class T>
using HostPointer = std::unique_ptr<T, ReleaseHost>;

/// Bytes now held through allocate() on this rank, and their maximum since the start or the last reset.
std::size_t allocated_bytes();
std::size_t peak_bytes();
void reset_peak_bytes();

/// Copies bytes within or between device and host memory; done on return.
void copy(void* to, const void* from, std::size_t bytes);

/// The same for planes of rows with equal strides on both sides; strides in bytes.
void copy_rows(void* to, const void* from, std::size_t row_bytes, int rows, std::ptrdiff_t row_stride, int planes,
               std::ptrdiff_t plane_stride);

/// Issues a copy from or to device memory, elsewhere memory of allocate_host(), in order with the loops; does not wait.
void copy_async(void* to, const void* from, std::size_t bytes);

/// Waits for all loops issued so far. Nothing to do in a CPU build.
void synchronize();

}  // namespace sluice::device
