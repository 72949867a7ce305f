// Device memory of a GPU build.
#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/device/check_cuda.hpp"
#include "core/device/held_arrays.hpp"
#include "core/device/memory.hpp"
#include "core/device/small_copies_cuda.hpp"
#include "core/device/together.hpp"
#include "core/device/traits.hpp"
#include "core/support/error.hpp"

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

/// The NUMA node that the GPU is attached to; -1 if the system does not say.
int numa_node_of_gpu() {
  int device = 0;
  std::array<char, 32> bus{};
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), device) != cudaSuccess) {
    return -1;
  }
  std::string name(bus.data());
  for (char& letter : name) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  std::ifstream file("/sys/bus/pci/devices/" + name + "/numa_node");
  int node = -1;
  return file >> node ? node : -1;
}

/// The NUMA node to take host memory from: that of the GPU; -1 if unknown or if SLUICE_NUMA_PLACEMENT=0.
int preferred_node() {
  const char* placement = std::getenv("SLUICE_NUMA_PLACEMENT");
  return placement != nullptr && std::string_view(placement) == "0" ? -1 : numa_node_of_gpu();
}

/// During its lifetime, this thread's new memory comes from the GPU's NUMA node if the system allows that and has room
/// there.
class NearGpu {
 public:
  NearGpu() {
    const int node = preferred_node();
    constexpr int nodes = 8 * sizeof(unsigned long);
    if (node < 0 || node >= nodes) return;
    if (syscall(SYS_get_mempolicy, &policy_, nodes_.data(), max_nodes, nullptr, 0) != 0) return;
    const unsigned long mask = 1UL << node;
    if (syscall(SYS_set_mempolicy, MPOL_PREFERRED, &mask, nodes + 1) == 0) node_ = node;
  }
  NearGpu(const NearGpu&) = delete;
  NearGpu& operator=(const NearGpu&) = delete;
  /// The GPU's node; -1 if the system chooses where memory comes from.
  int node() const { return node_; }
  ~NearGpu() {
    if (node_ >= 0) syscall(SYS_set_mempolicy, policy_, nodes_.data(), max_nodes);
  }

 private:
  static constexpr unsigned long max_nodes = 1024;

  int policy_ = 0;  ///< the user's policy, from numactl for example
  std::array<unsigned long, max_nodes / (8 * sizeof(unsigned long))> nodes_{};
  int node_ = -1;
};

void issue_before_release() noexcept {
  try {
    issue_queued();
  } catch (const Error&) {  // a failed device keeps failing: its next call outside a destructor throws
    return;
  }
}

}  // namespace

bool is_gpu() {
  return true;
}

const Multiprocessors& multiprocessors() {
  static const Multiprocessors found = [] {
    const auto bytes = [](cudaDeviceAttr attribute) {
      return static_cast<std::size_t>(cuda::device_attribute(attribute));
    };
    Multiprocessors all{cuda::device_attribute(cudaDevAttrMultiProcessorCount),
                        bytes(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
                        bytes(cudaDevAttrMaxSharedMemoryPerBlockOptin)};
#ifdef __HIP_PLATFORM_NVIDIA__
    // As much as AMD's GPUs have, so that the same kernels run.
    all.shared_bytes = all.max_shared_bytes_of_block = std::size_t{64} << 10;
#endif
#ifndef SLUICE_HIP
    all.reserved_bytes_of_block = bytes(cudaDevAttrReservedSharedMemoryPerBlock);
#endif
    return all;
  }();
  return found;
}

int max_thread_blocks_together() {
#ifdef SLUICE_HIP
  return 1;
#else
  static const int count = cuda::device_attribute(cudaDevAttrClusterLaunch) != 0 ? cluster_of_any : 1;
  return count;
#endif
}

std::string description() {
  const int device = cuda::current_device();
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  const int node = NearGpu().node();
  return fmt::format("{} ({:.1f} GiB), host memory {}", properties.name,
                     static_cast<double>(properties.totalGlobalMem) / 1073741824.0,
                     node < 0 ? "not placed" : fmt::format("on NUMA node {}", node));
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
    cuda::clear_error();
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
  if (left_to_holders(pointer)) return;
  issue_before_release();
  Ledger& book = ledger();
  if (const auto entry = book.sizes.find(pointer); entry != book.sizes.end()) {
    book.held -= entry->second;
    book.sizes.erase(entry);
  }
  cudaFree(pointer);
}

void* allocate_host(std::size_t bytes) {
  const NearGpu memory;
  void* pointer = nullptr;
  const cudaError_t status = cudaMallocHost(&pointer, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cuda::clear_error();
    throw Error(ExitCode::resources, fmt::format("out of page-locked host memory: could not allocate {:.3f} GiB",
                                                 static_cast<double>(bytes) / 1073741824.0));
  }
  check_cuda(status, "cudaMallocHost");
  std::memset(pointer, 0, bytes);
  return pointer;
}

void release_host(void* pointer) noexcept {
  issue_before_release();
  cudaFreeHost(pointer);
}

std::size_t allocated_bytes() {
  return ledger().held;
}
std::size_t peak_bytes() {
  return ledger().peak;
}
void reset_peak_bytes() {
  ledger().peak = ledger().held;
}

void copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  issue_queued();
  check_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "cudaMemcpy");
  check_cuda(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
}

void copy_rows(void* to, const void* from, std::size_t row_bytes, int rows, std::ptrdiff_t row_stride, int planes,
               std::ptrdiff_t plane_stride) {
  const auto pitch = static_cast<std::size_t>(row_stride);
  issue_queued();
  for (int plane = 0; plane < planes; ++plane) {
    check_cuda(cudaMemcpy2DAsync(static_cast<std::byte*>(to) + plane * plane_stride, pitch,
                                 static_cast<const std::byte*>(from) + plane * plane_stride, pitch, row_bytes,
                                 static_cast<std::size_t>(rows), cudaMemcpyDefault, nullptr),
               "cudaMemcpy2D");
  }
  check_cuda(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
}

void copy_async(void* to, const void* from, std::size_t bytes) {
  if (queue_of_task() != nullptr && bytes <= cuda::max_small_copy) {
    cuda::copy_by_kernel(to, from, bytes);
    return;
  }
  issue_queued();
  check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, nullptr), "cudaMemcpyAsync");
}

void synchronize() {
  issue_queued();
  check_cuda(cudaDeviceSynchronize(), "a GPU kernel");
}

}  // namespace sluice::device
