// Device memory of a CPU build. Large arrays are mapped separately: freed memory returns to the system at once, and
// huge pages reduce TLB misses in loops along y and z. Arrays of equal size are staggered: otherwise the same cell of
// eleven fields, at the same page offset, would compete for the same few cache lines.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <unordered_map>

#include "core/device/held_arrays.hpp"
#include "core/device/memory.hpp"
#include "core/device/select.hpp"
#include "core/device/traits.hpp"
#include "core/support/error.hpp"

namespace sluice::device {

namespace {

constexpr std::size_t alignment = 64;

constexpr std::size_t mapped_from = std::size_t{1} << 20;  ///< bytes: smaller arrays come from the heap
constexpr std::size_t stagger_step = 4096 + 256;
constexpr std::size_t stagger_count = 16;

/// The memory behind a pointer that allocate() returned.
struct Allocation {
  std::size_t bytes = 0;
  void* mapping = nullptr;  ///< null: on the heap
  std::size_t mapped = 0;
};

struct Ledger {
  std::unordered_map<void*, Allocation> allocations;
  std::size_t held = 0;
  std::size_t peak = 0;
  std::size_t maps = 0;
};

// Outlives every static object that might still hold device memory.
Ledger& ledger() {
  static auto* instance = new Ledger;
  return *instance;
}

[[noreturn]] void out_of_memory(std::size_t bytes) {
  throw Error(ExitCode::resources, "out of memory: could not allocate " + std::to_string(bytes) +
                                       " bytes; use more processes or nodes, or a coarser grid");
}

void* aligned_zeroed(std::size_t bytes) {
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* pointer = std::aligned_alloc(alignment, rounded);
  if (pointer == nullptr) out_of_memory(bytes);
  std::memset(pointer, 0, rounded);
  return pointer;
}

/// Zeroed by the system when first touched.
void* map(std::size_t bytes, Allocation& allocation) {
  const std::size_t stagger = stagger_step * (ledger().maps++ % stagger_count);
  allocation.mapped = bytes + stagger;
  allocation.mapping = mmap(nullptr, allocation.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (allocation.mapping == MAP_FAILED) out_of_memory(bytes);
  madvise(allocation.mapping, allocation.mapped, MADV_HUGEPAGE);  // only a hint: failure is harmless
  return static_cast<std::byte*>(allocation.mapping) + stagger;
}

}  // namespace

bool is_gpu() {
  return false;
}

void select(MPI_Comm /*world*/) {}

int max_thread_blocks_together() {
  return 1;
}

std::string description() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "CPU";
}

std::size_t free_memory() {
  std::ifstream meminfo("/proc/meminfo");  // MemAvailable includes memory that the system can reclaim
  for (std::string line; std::getline(meminfo, line);) {
    if (line.starts_with("MemAvailable:")) return static_cast<std::size_t>(std::stoull(line.substr(13))) * 1024;
  }
  return static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void* allocate(std::size_t bytes) {
  Allocation allocation{bytes, nullptr, 0};
  void* pointer = bytes >= mapped_from ? map(bytes, allocation) : aligned_zeroed(bytes);
  Ledger& book = ledger();
  book.allocations[pointer] = allocation;
  book.held += bytes;
  if (book.held > book.peak) book.peak = book.held;
  return pointer;
}

void release(void* pointer) noexcept {
  if (left_to_holders(pointer)) return;
  Ledger& book = ledger();
  const auto entry = book.allocations.find(pointer);
  if (entry == book.allocations.end()) return;
  const Allocation allocation = entry->second;
  book.held -= allocation.bytes;
  book.allocations.erase(entry);
  if (allocation.mapping != nullptr) {
    munmap(allocation.mapping, allocation.mapped);
  } else {
    std::free(pointer);
  }
}

void* allocate_host(std::size_t bytes) {
  return aligned_zeroed(bytes);
}
void release_host(void* pointer) noexcept {
  std::free(pointer);
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
  if (bytes > 0) std::memcpy(to, from, bytes);
}

void copy_rows(void* to, const void* from, std::size_t row_bytes, int rows, std::ptrdiff_t row_stride, int planes,
               std::ptrdiff_t plane_stride) {
  for (int plane = 0; plane < planes; ++plane) {
    for (int row = 0; row < rows; ++row) {
      const std::ptrdiff_t at = plane * plane_stride + row * row_stride;
      std::memcpy(static_cast<std::byte*>(to) + at, static_cast<const std::byte*>(from) + at, row_bytes);
    }
  }
}

void copy_async(void* to, const void* from, std::size_t bytes) {
  copy(to, from, bytes);
}

void synchronize() {}

}  // namespace sluice::device
