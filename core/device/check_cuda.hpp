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

}  // namespace sluice
