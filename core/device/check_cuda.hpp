#pragma once
// Checked CUDA calls. Only for files of a GPU build.
#include <cuda_runtime.h>

#include <string>

#include "core/support/error.hpp"

namespace sluice {

inline void check_cuda(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // clear it, or the next kernel launch would report it
  const ExitCode code =
      status == cudaErrorMemoryAllocation || status == cudaErrorNoDevice ? ExitCode::resources : ExitCode::internal;
  throw Error(code, std::string(what) + ": " + cudaGetErrorString(status));
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
