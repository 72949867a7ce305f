// Device memory of a CPU build: ordinary memory, aligned for vector loads.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <unordered_map>

#include "core/device/memory.hpp"
#include "core/support/error.hpp"

namespace sluice::device {

namespace {

constexpr std::size_t alignment = 64;

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

void* aligned_zeroed(std::size_t bytes) {
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* pointer = std::aligned_alloc(alignment, rounded);
  if (pointer == nullptr) {
    throw Error(ExitCode::resources, "out of memory: could not allocate " + std::to_string(bytes) +
                                         " bytes; use more processes or nodes, or a coarser grid");
  }
  std::memset(pointer, 0, rounded);
  return pointer;
}

}  // namespace

bool is_gpu() {
  return false;
}

void select(int /*node_rank*/, int /*node_size*/) {}

std::string description() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "CPU";
}

std::size_t free_memory() {
  return static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) *
         static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void* allocate(std::size_t bytes) {
  void* pointer = aligned_zeroed(bytes);
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
  std::free(pointer);
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

void copy(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

void synchronize() {}

}  // namespace sluice::device
