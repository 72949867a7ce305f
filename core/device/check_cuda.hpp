#pragma once
// Checked CUDA calls. Only for files of a GPU build.
#include "core/device/gpu_runtime.hpp"

namespace sluice {

/// Throws Error: with ExitCode::resources if the GPU or its driver failed, or if memory is full; otherwise the call was
/// wrong, and the error has ExitCode::internal.
[[noreturn]] void throw_cuda_error(cudaError_t status, const char* what);

inline void check_cuda(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw_cuda_error(status, what);
}

namespace cuda {

inline int current_device() {
  int device = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

/// An attribute of this rank's GPU.
inline int device_attribute(cudaDeviceAttr attribute) {
  int value = 0;
  check_cuda(cudaDeviceGetAttribute(&value, attribute, current_device()), "cudaDeviceGetAttribute");
  return value;
}

/// Starts this rank's GPU, as the first call that needs it would.
inline void start() {
  check_cuda(cudaFree(nullptr), "starting the GPU");
}

/// Forgets a failure that has been dealt with, or the next kernel launch would report it.
inline void clear_error() {
  static_cast<void>(cudaGetLastError());  // which HIP marks nodiscard
}

}  // namespace cuda

}  // namespace sluice
