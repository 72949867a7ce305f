#pragma once
// Checked CUDA calls. Only for files of a GPU build.
#include <cuda_runtime.h>

namespace sluice {

/// Throws Error: with ExitCode::resources if the GPU, its driver or its memory failed, which other GPUs may not do,
/// and else with ExitCode::internal.
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
