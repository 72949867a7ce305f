// Kernels of a GPU that fails, for gpu_faults.cpp: they are apart because nvcc defines functions that it replaces.
#include <cuda_runtime.h>

#include <string_view>

namespace {

__global__ void raise_exception() {
  asm("trap;");
}

__global__ void never_end(const volatile int* zero) {
  while (*zero == 0) {
  }
}

}  // namespace

/// Starts "trap" or "hang".
void start_faulty_kernel(std::string_view fault) {
  if (fault == "trap") raise_exception<<<1, 1>>>();
  if (fault != "hang") return;
  int* zero = nullptr;
  cudaMallocHost(&zero, sizeof(int));
  *zero = 0;
  never_end<<<1, 1>>>(zero);
}
