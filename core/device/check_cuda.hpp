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

/// An attribute of this rank's GPU.
inline int device_attribute(cudaDeviceAttr attribute) {
  int device = 0;
  int value = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&value, attribute, device), "cudaDeviceGetAttribute");
  return value;
}

}  // namespace cuda

}  // namespace sluice
