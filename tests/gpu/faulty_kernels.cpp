// Kernels of a GPU that fails, for gpu_faults.cpp: they are apart because nvcc defines functions that it replaces.
#include <cuda_runtime.h>

#include <string_view>

#include "core/decomp/view3.hpp"

#ifndef SLUICE_DEBUG
#error "the bounds of views are checked with SLUICE_DEBUG only"
#endif

namespace {

__global__ void raise_exception() {
  asm("trap;");
}

__global__ void never_end(const volatile int* zero) {
  while (*zero == 0) {
  }
}

__global__ void read_outside(sluice::View3<const int> view, int i) {
  if (view(i, 0, 0) == 0) asm("exit;");
}

}  // namespace

/// Starts "trap", "bounds" or "hang".
void start_faulty_kernel(std::string_view fault) {
  if (fault == "trap") raise_exception<<<1, 1>>>();
  if (fault == "bounds") read_outside<<<1, 1>>>(sluice::contiguous_view<const int>(nullptr, 4, 4, 4), 4);
  if (fault != "hang") return;
  int* zero = nullptr;
  cudaMallocHost(&zero, sizeof(int));
  *zero = 0;
  never_end<<<1, 1>>>(zero);
}
