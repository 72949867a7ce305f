#pragma once
// For the files of a GPU build only: checked calls of CUDA.
#include <cuda_runtime.h>

#include <string>

#include "core/support/error.hpp"

namespace sluice {

inline void check_cuda(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // or the next kernel would be blamed for it
  const ExitCode code =
      status == cudaErrorMemoryAllocation || status == cudaErrorNoDevice ? ExitCode::resources : ExitCode::internal;
  throw Error(code, std::string(what) + ": " + cudaGetErrorString(status));
}

namespace cuda {

/// Of this rank's GPU.
inline int device_attribute(cudaDeviceAttr attribute) {
  int device = 0;
  int value = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&value, attribute, device), "cudaDeviceGetAttribute");
  return value;
}

}  // namespace cuda

}  // namespace sluice
