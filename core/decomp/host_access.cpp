#include "core/decomp/host_access.hpp"

#include <mpi.h>

#include <cstdlib>
#include <string_view>
#include <utility>

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include "core/decomp/cuda_aware_mpi.hpp"
#include "core/device/memory.hpp"

namespace sluice {

namespace {

bool& device_pointers_are_taken() {
  static bool taken = mpi_is_cuda_aware();
  return taken;
}

}  // namespace

bool mpi_is_cuda_aware() {
  if (!device::is_gpu()) return true;
  if (const char* forced = std::getenv("SLUICE_CUDA_AWARE_MPI")) return std::string_view(forced) == "1";
#if defined(CRAY_MPICH_VERSION)
  // It cannot be asked; with this set, MPI_Init fails if the library for GPUs is missing.
  if (const char* enabled = std::getenv("MPICH_GPU_SUPPORT_ENABLED")) return std::string_view(enabled) == "1";
#endif
#if defined(__HIP_PLATFORM_AMD__) && defined(MPIX_ROCM_AWARE_SUPPORT)
  return MPIX_Query_rocm_support() == 1;
#elif !defined(__HIP_PLATFORM_AMD__) && defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1;
#elif defined(MPIX_GPU_SUPPORT_HIP)
#ifdef __HIP_PLATFORM_AMD__
  constexpr int kind = MPIX_GPU_SUPPORT_HIP;
#else
  constexpr int kind = MPIX_GPU_SUPPORT_CUDA;
#endif
  int supported = 0;
  return MPIX_GPU_query_support(kind, &supported) == MPI_SUCCESS && supported != 0;
#else
  return false;
#endif
}

void use_device_pointers_in_mpi(bool use) {
  device_pointers_are_taken() = use || !device::is_gpu();
}

bool mpi_takes_device_pointers() {
  return device_pointers_are_taken();
}

HostImage::HostImage(void* device_data, std::size_t bytes) : device_(static_cast<std::byte*>(device_data)) {
  if (!mpi_takes_device_pointers() && bytes > 0) host_ = static_cast<std::byte*>(device::allocate_host(bytes));
}

HostImage::HostImage(HostImage&& other) noexcept
    : device_(std::exchange(other.device_, nullptr)), host_(std::exchange(other.host_, nullptr)) {}

HostImage& HostImage::operator=(HostImage&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(host_, other.host_);
  return *this;
}

HostImage::~HostImage() {
  if (host_ != nullptr) device::release_host(host_);
}

void HostImage::fetch(std::size_t offset, std::size_t bytes) {
  if (staged()) {
    device::copy(host_ + offset, device_ + offset, bytes);
  }
}

void HostImage::flush(std::size_t offset, std::size_t bytes) {
  if (staged()) device::copy(device_ + offset, host_ + offset, bytes);
}

void HostImage::fetch(std::size_t offset, std::size_t bytes, device::Stream& stream) {
  if (staged()) stream.copy(host_ + offset, device_ + offset, bytes);
}

void HostImage::flush(std::size_t offset, std::size_t bytes, device::Stream& stream) {
  if (staged()) stream.copy(device_ + offset, host_ + offset, bytes);
}

}  // namespace sluice
