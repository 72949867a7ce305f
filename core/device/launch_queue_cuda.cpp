// Launches of a GPU build, and how those of several tasks are merged.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/device/check_cuda.hpp"
#include "core/device/launch_blocks.hpp"
#include "core/device/launch_graphs.hpp"
#include "core/device/launch_queue.hpp"
#include "core/device/queued_event.hpp"
#include "core/device/together.hpp"
#include "core/device/traits.hpp"

namespace sluice {

namespace cuda {

namespace {

bool equal(const dim3& a, const dim3& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

#ifndef SLUICE_HIP
/// CUDA's form of a launch.
struct Configuration {
  cudaLaunchAttribute cluster = {};
  cudaLaunchConfig_t config = {};

  explicit Configuration(const Blocks& blocks) {
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {blocks.cluster, 1, 1};
    config.gridDim = blocks.grid;
    config.blockDim = blocks.threads;
    config.dynamicSmemBytes = blocks.shared_bytes;
    config.attrs = &cluster;
    config.numAttrs = blocks.cluster > 1 ? 1 : 0;
  }
  Configuration(const Configuration&) = delete;
  Configuration& operator=(const Configuration&) = delete;
};
#endif

/// Lets thread blocks of a function have this much dynamic shared memory.
void allow_shared(const char* name, const void* function, std::size_t bytes) {
  static std::unordered_map<const void*, std::size_t> allowed;
  std::size_t& most = allowed[function];
  if (bytes <= most) return;
  check_cuda(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
             name);
  most = bytes;
}

}  // namespace

bool Blocks::operator==(const Blocks& other) const {
  return equal(grid, other.grid) && equal(threads, other.threads) && shared_bytes == other.shared_bytes &&
         cluster == other.cluster;
}

void start(const char* name, const void* function, const Blocks& blocks, const void* arguments) {
  allow_shared(name, function, blocks.shared_bytes);
  void* of_function = const_cast<void*>(arguments);
#ifdef SLUICE_HIP
  check_cuda(hipLaunchKernel(function, blocks.grid, blocks.threads, &of_function, blocks.shared_bytes, nullptr), name);
#else
  const Configuration to(blocks);
  check_cuda(cudaLaunchKernelExC(&to.config, function, &of_function), name);
#endif
}

namespace {

int find_resident_blocks(const void* function, const Blocks& blocks) {
  constexpr const char* name = "thread blocks on the GPU";
  allow_shared(name, function, blocks.shared_bytes);
  int count = 0;
#ifndef SLUICE_HIP
  if (blocks.cluster > 1) {
    const Configuration to(blocks);
    check_cuda(cudaOccupancyMaxActiveClusters(&count, function, &to.config), name);
    return count;
  }
#endif
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, function, static_cast<int>(blocks.threads.x),
                                                           blocks.shared_bytes),
             name);
  return count * device::multiprocessors().count;
}

}  // namespace

int resident_blocks(const void* function, const Blocks& blocks) {
  // CUDA takes microseconds to answer, and the same question comes each time that lines are solved.
  static std::unordered_map<const void*, std::vector<std::pair<Blocks, int>>> known;
  auto& of_function = known[function];
  const auto found = std::ranges::find(of_function, blocks, &std::pair<Blocks, int>::first);
  if (found != of_function.end()) return found->second;
  return of_function.emplace_back(blocks, find_resident_blocks(function, blocks)).second;
}

}  // namespace cuda

namespace device {

namespace {

/// A launch, or without a kind the record of an event.
struct Entry {
  const cuda::KernelKind* kind = nullptr;
  const char* name = nullptr;
  cuda::Blocks blocks;
  std::size_t kernel = 0;  ///< where its bytes begin
  unsigned group = 0;      ///< entries of one group may be issued in any order; 0: none
  bool issued = false;
  cuda::Place place = cuda::Place::next;
  std::shared_ptr<QueuedEvent> event;

  bool like(const Entry& other) const {
    return kind == other.kind && (kind == nullptr || (place == other.place && blocks == other.blocks));
  }
};

/// Bytes of kernels start at multiples of this.
constexpr std::size_t alignment = alignof(std::max_align_t);

/// From this many entries on, others have their turn, so that the device has work.
constexpr std::size_t max_entries = 256;

struct alignas(alignment) Unit {
  std::byte bytes[alignment];
};

}  // namespace

struct LaunchQueue::Contents {
  std::vector<Entry> entries;
  std::vector<Unit> kernels;
  std::size_t begin = 0;                  ///< of the entries that are not issued
  unsigned group = 0;                     ///< that is open
  unsigned groups = 0;                    ///< so far
  cuda::Place place = cuda::Place::next;  ///< of the next launch

  bool at_end() const { return begin == entries.size(); }
  /// The end of the entries that may be issued next.
  std::size_t end_of_front() const {
    std::size_t end = begin + 1;
    if (entries[begin].group == 0) return end;
    while (end < entries.size() && entries[end].group == entries[begin].group) ++end;
    return end;
  }
  const void* kernel_of(const Entry& entry) const { return kernels.data() + entry.kernel; }
  void skip_issued() {
    while (begin < entries.size() && entries[begin].issued) ++begin;
  }
  void clear() {
    entries.clear();
    kernels.clear();
    begin = 0;
  }
};

LaunchQueue::LaunchQueue() : contents_(std::make_unique<Contents>()) {}
LaunchQueue::~LaunchQueue() = default;

bool LaunchQueue::empty() const {
  return contents_->at_end();
}

void LaunchQueue::begin_group() {
  contents_->group = ++contents_->groups;
}
void LaunchQueue::end_group() {
  contents_->group = 0;
  if (contents_->place == cuda::Place::after_all) contents_->place = cuda::Place::next;
}

void LaunchQueue::begin_aside() {
  contents_->place = cuda::Place::aside;
}
void LaunchQueue::end_aside() {
  contents_->place = cuda::Place::next;
}
void LaunchQueue::join_aside() {
  contents_->place = cuda::Place::after_all;
}

namespace {

/// Merges what is in several queues.
class Issue {
 public:
  Issue() = default;
  Issue(const Issue&) = delete;
  Issue& operator=(const Issue&) = delete;

  void run(const std::vector<LaunchQueue*>& queues) {
    for (LaunchQueue* queue : queues) {
      if (!queue->empty()) queues_.push_back(&queue->contents());
    }
    const Cleared at_end{*this};
    run();
  }

 private:
  /// Empties all at the end of a run, but keeps memory for the next one.
  struct Cleared {
    Issue& of;
    ~Cleared() {
      for (LaunchQueue::Contents* queue : of.queues_) queue->clear();
      of.queues_.clear();
      of.sequence_.clear();
    }
  };

  void run() {
    while (find_next()) {
      if (chosen_.front().entry->kind == nullptr) {
        record_event();
      } else {
        add_launches();
      }
      for (const Chosen& chosen : chosen_) chosen.entry->issued = true;
      for (LaunchQueue::Contents* queue : queues_) queue->skip_issued();
    }
    issue_sequence();
  }

  struct Chosen {
    LaunchQueue::Contents* queue;
    Entry* entry;
  };

  /// Of the entries that may be issued next, chooses equal ones: those that the fewest queues have. A task that does
  /// more than the others, such as writing a file, catches up with them like this. Returns whether there are any.
  bool find_next() {
    chosen_.clear();
    seen_.clear();
    std::size_t fewest = 0;
    for (LaunchQueue::Contents* queue : queues_) {
      if (queue->at_end()) continue;
      const std::size_t end = queue->end_of_front();
      for (std::size_t n = queue->begin; n < end; ++n) {
        const Entry& entry = queue->entries[n];
        if (entry.issued || std::ranges::any_of(seen_, [&](const Entry* one) { return one->like(entry); })) continue;
        seen_.push_back(&entry);
        const std::size_t count = find_like(entry);
        if (fewest != 0 && count >= fewest) continue;
        fewest = count;
        chosen_.swap(alike_);
      }
    }
    return !chosen_.empty();
  }

  /// Finds the entries like this one that may be issued next. Returns how many queues have any.
  std::size_t find_like(const Entry& one) {
    alike_.clear();
    std::size_t count = 0;
    for (LaunchQueue::Contents* queue : queues_) {
      if (queue->at_end()) continue;
      const std::size_t end = queue->end_of_front();
      const std::size_t before = alike_.size();
      for (std::size_t n = queue->begin; n < end; ++n) {
        Entry& entry = queue->entries[n];
        if (!entry.issued && entry.like(one)) alike_.push_back({queue, &entry});
      }
      count += alike_.size() > before ? 1 : 0;
    }
    return count;
  }

  void record_event() {
    issue_sequence();
    const auto event = std::make_shared<OwnedEvent>();
    event->record();
    for (const Chosen& chosen : chosen_) chosen.entry->event->recorded = event;
  }

  void add_launches() {
    const Entry& first = *chosen_.front().entry;
    const cuda::KernelKind& kind = *first.kind;
    // The grids of all follow each other along z, where a grid has a largest length.
    const std::size_t most = std::clamp<std::size_t>(device::max_blocks_along_yz / first.blocks.grid.z, 1, kind.most);
    for (std::size_t begin = 0; begin < chosen_.size(); begin += most) {
      const std::size_t count = std::min(most, chosen_.size() - begin);
      cuda::Blocks blocks = first.blocks;
      blocks.grid.z *= static_cast<unsigned>(count);
      const bool alone = count == 1;
      const std::size_t at = alone ? 0 : kind.kernels_at;
      std::byte* const arguments = sequence_.add(first.name, alone ? kind.alone() : kind.several(), blocks, first.place,
                                                 at + count * kind.bytes, alone ? kind.bytes : kind.bytes_of_several);
      if (!alone) {
        std::memset(arguments, 0, at);
        std::memcpy(arguments, &first.blocks.grid.z, sizeof(unsigned));
      }
      for (std::size_t n = 0; n < count; ++n) {
        const Chosen& chosen = chosen_[begin + n];
        std::memcpy(arguments + at + n * kind.bytes, chosen.queue->kernel_of(*chosen.entry), kind.bytes);
      }
    }
  }

  void issue_sequence() {
    graphs_.issue(sequence_);
    sequence_.clear();
  }

  std::vector<LaunchQueue::Contents*> queues_;
  std::vector<Chosen> chosen_, alike_;
  std::vector<const Entry*> seen_;
  cuda::LaunchSequence sequence_;
  cuda::LaunchGraphs graphs_;
};

}  // namespace

void LaunchQueue::issue(const std::vector<LaunchQueue*>& queues) {
  thread_local auto* issue = new Issue;  // never destroyed: the CUDA context may be gone by then
  issue->run(queues);
}

void enqueue(LaunchQueue& queue, std::shared_ptr<QueuedEvent> event) {
  Entry entry;
  entry.event = std::move(event);
  entry.group = queue.contents().group;
  queue.contents().entries.push_back(std::move(entry));
}

}  // namespace device

namespace cuda {

bool enqueue(const KernelKind& kind, const char* name, const Blocks& blocks, const void* kernel) {
  device::LaunchQueue* const queue = device::queue_of_task();
  if (queue == nullptr) return false;
  auto& contents = queue->contents();
  auto& entries = contents.entries;
  auto& kernels = contents.kernels;
  const std::size_t at = kernels.size();
  kernels.resize(at + (kind.bytes + sizeof(device::Unit) - 1) / sizeof(device::Unit));
  std::memcpy(kernels.data() + at, kernel, kind.bytes);
  device::Entry entry;
  entry.kind = &kind;
  entry.name = name;
  entry.blocks = blocks;
  entry.kernel = at;
  entry.group = contents.group;
  entry.place = contents.place;
  if (contents.place == Place::after_all && contents.group == 0) contents.place = Place::next;
  entries.push_back(std::move(entry));
  if (entries.size() >= device::max_entries) device::issue_queued();
  return true;
}

}  // namespace cuda

}  // namespace sluice
