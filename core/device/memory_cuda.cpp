// Device memory of a GPU build.
#include <fmt/format.h>

#include <cstring>
#include <unordered_map>

#include "core/device/check_cuda.hpp"
#include "core/device/memory.hpp"

namespace sluice::device {

namespace {

struct Ledger {
  std::unordered_map<void*, std::size_t> sizes;
  std::size_t held = 0;
  std::size_t peak = 0;
};

// Outlives every static object that might still hold device memory.
Ledger& ledger() {
  static auto* instance = new Ledger;
  return *instance;
}

}  // namespace

bool is_gpu() {
  return true;
}

void select(int node_rank, int node_size) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    throw Error(ExitCode::resources,
                "this is a GPU build of Sluice, but no GPU was found; check nvidia-smi and "
                "CUDA_VISIBLE_DEVICES, or use a CPU build");
  }
  if (node_size > count) {
    throw Error(ExitCode::resources,
                fmt::format("{} ranks on a node with {} GPU(s): start one rank for each GPU", node_size, count));
  }
  check_cuda(cudaSetDevice(node_rank), "cudaSetDevice");
}

std::string description() {
  int device = 0;
  cudaDeviceProp properties{};
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  return fmt::format("{} ({:.1f} GiB)", properties.name, static_cast<double>(properties.totalGlobalMem) / 1073741824.0);
}

std::size_t free_memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return free;
}

void* allocate(std::size_t bytes) {
  void* pointer = nullptr;
  const cudaError_t status = cudaMalloc(&pointer, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // or the next kernel would be blamed for it
    throw Error(ExitCode::resources, fmt::format("out of GPU memory: could not allocate {:.3f} GiB, {:.3f} "
                                                 "GiB free; use more GPUs or a coarser grid",
                                                 static_cast<double>(bytes) / 1073741824.0,
                                                 static_cast<double>(free_memory()) / 1073741824.0));
  }
  check_cuda(status, "cudaMalloc");
  check_cuda(cudaMemset(pointer, 0, bytes), "cudaMemset");
  check_cuda(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");  // MPI may write into it at once
  Ledger& book = ledger();
  book.sizes[pointer] = bytes;
  book.held += bytes;
  if (book.held > book.peak) book.peak = book.held;
  return pointer;
}

void release(void* pointer) noexcept {
  Ledger& book = ledger();
  if (const auto entry = book.sizes.find(pointer); entry != book.sizes.end()) {
    book.held -= entry->second;
    book.sizes.erase(entry);
  }
  cudaFree(pointer);
}

void* allocate_host(std::size_t bytes) {
  void* pointer = nullptr;
  check_cuda(cudaMallocHost(&pointer, bytes), "cudaMallocHost");
  std::memset(pointer, 0, bytes);
  return pointer;
}

void release_host(void* pointer) noexcept {
  cudaFreeHost(pointer);
}

std::size_t allocated_bytes() {
  return ledger().held;
}
std::size_t peak_bytes() {
  return ledger().peak;
}

void copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  check_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "cudaMemcpy");
  check_cuda(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
}

void copy_async(void* to, const void* from, std::size_t bytes) {
  check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, nullptr), "cudaMemcpyAsync");
}

void synchronize() {
  check_cuda(cudaDeviceSynchronize(), "a GPU kernel");
}

}  // namespace sluice::device
