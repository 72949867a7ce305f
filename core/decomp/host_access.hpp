#pragma once
// Whether MPI accepts device pointers, and staging through host memory if it does not.
#include <cstddef>

#include "core/device/stream.hpp"

namespace sluice {

/// True if MPI may be given pointers to device memory: always in a CPU build; in a GPU build if MPI says that it is
/// CUDA-aware. The environment variable SLUICE_CUDA_AWARE_MPI=0|1 overrides the detection.
bool mpi_takes_device_pointers();

/// The copy of a device buffer that MPI reads and writes: the buffer itself, or page-locked host memory of its size.
class HostImage {
 public:
  HostImage() = default;
  HostImage(void* device_data, std::size_t bytes);
  HostImage(HostImage&& other) noexcept;
  HostImage& operator=(HostImage&& other) noexcept;
  HostImage(const HostImage&) = delete;
  HostImage& operator=(const HostImage&) = delete;
  ~HostImage();

  std::byte* data() { return staged() ? host_ : device_; }
  bool staged() const { return host_ != nullptr; }
  void fetch(std::size_t offset, std::size_t bytes);  ///< device to image
  void flush(std::size_t offset, std::size_t bytes);  ///< image to device
  /// The same, as a copy issued on `stream`.
  void fetch(std::size_t offset, std::size_t bytes, device::Stream& stream);
  void flush(std::size_t offset, std::size_t bytes, device::Stream& stream);

 private:
  std::byte* device_ = nullptr;
  std::byte* host_ = nullptr;
};

}  // namespace sluice
