#include "core/device/launch_graphs.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "core/device/check_cuda.hpp"

namespace sluice::cuda {

namespace {

/// Launches of a shorter sequence are issued one by one.
constexpr std::size_t min_launches = 4;
/// How many sequences are kept.
constexpr std::size_t max_known = 64;
/// How many graphs of one sequence are kept, with arrays in other roles.
constexpr std::size_t max_graphs_alike = 6;
/// Shares of the arguments, as divisors: up to a quarter are few changes, more than a sixteenth are worth another
/// graph.
constexpr std::size_t few_changes = 4, many_changes = 16;
/// How often a sequence is issued launch by launch before it becomes a graph: making one costs more than its launches,
/// and many sequences never come again.
constexpr int calls_before_graph = 2;

constexpr std::size_t alignment = alignof(std::max_align_t);

constexpr const char* graph_name = "a sequence of GPU kernels";

}  // namespace

void LaunchSequence::clear() {
  launches_.clear();
  end_ = 0;
}

std::byte* LaunchSequence::add(const char* name, const void* function, const Blocks& blocks, Place place,
                               std::size_t bytes, std::size_t all) {
  const std::size_t at = end_;
  end_ += (bytes + alignment - 1) / alignment * alignment;
  if (arguments_.size() < std::max(end_, at + all)) arguments_.resize(2 * std::max(end_, at + all));
  launches_.push_back({name, function, blocks, place, at, bytes});
  return arguments_.data() + at;
}

bool LaunchSequence::like(const LaunchSequence& other) const {
  return std::ranges::equal(launches_, other.launches_, &Launch::like);
}

std::size_t LaunchSequence::hash() const {
  std::size_t hash = launches_.size();
  for (const Launch& launch : launches_)
    hash = hash * 1099511628211U + std::hash<const void*>()(launch.function) + launch.blocks.grid.z;
  return hash;
}

/// A graph of launches. They can be issued again with other arguments.
class LaunchGraphs::Graph {
 public:
  explicit Graph(const LaunchSequence& sequence) : sequence_(sequence) {
    check_cuda(cudaGraphCreate(&graph_, 0), graph_name);
    cudaGraphNode_t last = nullptr;
    cudaGraphNode_t last_aside = nullptr;
    for (const LaunchSequence::Launch& launch : sequence_.launches()) {
      const Parameters parameters(sequence_, launch);
      std::vector<cudaGraphNode_t> before;
      if (launch.place == Place::aside && last_aside != nullptr) {
        before = {last_aside};
      } else if (last != nullptr) {
        before = {last};
      }
      if (launch.place == Place::after_all && last_aside != nullptr)
        before.push_back(std::exchange(last_aside, nullptr));
      cudaGraphNode_t node = nullptr;
      check_cuda(cudaGraphAddKernelNode(&node, graph_, before.data(), before.size(), &parameters.node), launch.name);
      (launch.place == Place::aside ? last_aside : last) = node;
#ifndef SLUICE_HIP
      if (launch.blocks.cluster > 1) {
        cudaLaunchAttributeValue value = {};
        value.clusterDim = {launch.blocks.cluster, 1, 1};
        check_cuda(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &value), launch.name);
      }
#endif
      nodes_.push_back(node);
    }
    check_cuda(cudaGraphInstantiate(&executable_, graph_, 0), graph_name);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
  }

  /// Finds the launches whose arguments differ from those of the last call. Returns the bytes of these arguments.
  std::size_t compare(const LaunchSequence& sequence) {
    changed_.clear();
    std::size_t bytes = 0;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const LaunchSequence::Launch& launch = sequence.launches()[n];
      if (std::memcmp(sequence_.arguments(launch), sequence.arguments(launch), launch.bytes) == 0) continue;
      changed_.push_back(n);
      bytes += launch.bytes;
    }
    return bytes;
  }

  /// Gives the launches that compare() has found their new arguments.
  void update(const LaunchSequence& sequence) {
    for (const std::size_t n : changed_) {
      const LaunchSequence::Launch& launch = sequence_.launches()[n];
      std::memcpy(const_cast<std::byte*>(sequence_.arguments(launch)), sequence.arguments(launch), launch.bytes);
      const Parameters parameters(sequence_, launch);
      check_cuda(cudaGraphExecKernelNodeSetParams(executable_, nodes_[n], &parameters.node), launch.name);
    }
  }

  void issue() {
    check_cuda(cudaGraphLaunch(executable_, nullptr), graph_name);
  }

  Graph* next = nullptr;  ///< the one that was issued after this one the last time

 private:
  /// CUDA's form of a launch in a graph.
  struct Parameters {
    void* arguments = nullptr;
    cudaKernelNodeParams node = {};

    Parameters(const LaunchSequence& sequence, const LaunchSequence::Launch& launch)
        : arguments(const_cast<std::byte*>(sequence.arguments(launch))) {
      node.func = const_cast<void*>(launch.function);
      node.gridDim = launch.blocks.grid;
      node.blockDim = launch.blocks.threads;
      node.sharedMemBytes = static_cast<unsigned>(launch.blocks.shared_bytes);
      node.kernelParams = &arguments;
    }
    Parameters(const Parameters&) = delete;
    Parameters& operator=(const Parameters&) = delete;
  };

  LaunchSequence sequence_;  ///< with the arguments of the last call
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
  std::vector<cudaGraphNode_t> nodes_;
  std::vector<std::size_t> changed_;  ///< launches, as compare() has found
};

/// The graphs of one sequence of functions and thread blocks. A time step has several such sequences in which arrays
/// have other roles; a graph of each needs few new arguments when it comes again.
class LaunchGraphs::Alike {
 public:
  explicit Alike(const LaunchSequence& sequence) : first_(sequence), hash_(sequence.hash()) {}

  bool is_of(const LaunchSequence& sequence, std::size_t hash) const { return hash == hash_ && first_.like(sequence); }

  void issue(const LaunchSequence& sequence) {
    if (++calls_ <= calls_before_graph) {
      for (const LaunchSequence::Launch& launch : sequence.launches())
        start(launch.name, launch.function, launch.blocks, sequence.arguments(launch));
      return;
    }
    closest(sequence).issue();
  }

 private:
  /// A graph with the arguments of the sequence: the one that followed the last graph before if it needs few changes;
  /// else the one that needs the fewest; or a new one, if that would change much.
  Graph& closest(const LaunchSequence& sequence) {
    std::size_t all = 0;
    for (const LaunchSequence::Launch& launch : sequence.launches()) all += launch.bytes;
    Graph* const before = std::exchange(last_, nullptr);
    if (before != nullptr && before->next != nullptr && few_changes * before->next->compare(sequence) <= all) {
      last_ = before->next;
    } else {
      std::size_t fewest = 0;
      for (const auto& graph : graphs_) {
        const std::size_t bytes = graph->compare(sequence);
        if (last_ != nullptr && bytes >= fewest) continue;
        last_ = graph.get();
        fewest = bytes;
      }
      if (last_ == nullptr || (many_changes * fewest > all && graphs_.size() < max_graphs_alike)) {
        last_ = graphs_.emplace_back(std::make_unique<Graph>(sequence)).get();
        if (before != nullptr) before->next = last_;
        return *last_;
      }
      if (before != nullptr) before->next = last_;
    }
    last_->update(sequence);
    return *last_;
  }

  LaunchSequence first_;
  std::size_t hash_;
  int calls_ = 0;
  std::vector<std::unique_ptr<Graph>> graphs_;
  Graph* last_ = nullptr;  ///< the one issued last
};

LaunchGraphs::LaunchGraphs() = default;
LaunchGraphs::~LaunchGraphs() = default;

void LaunchGraphs::issue(const LaunchSequence& sequence) {
  if (sequence.launches().size() < min_launches) {
    for (const LaunchSequence::Launch& launch : sequence.launches())
      start(launch.name, launch.function, launch.blocks, sequence.arguments(launch));
    return;
  }
  const std::size_t hash = sequence.hash();
  auto at = known_.begin();
  while (at != known_.end() && !(*at)->is_of(sequence, hash)) ++at;
  if (at == known_.end()) {
    if (known_.size() == max_known) known_.pop_back();
    known_.push_front(std::make_unique<Alike>(sequence));
  } else if (at != known_.begin()) {
    known_.splice(known_.begin(), known_, at);
  }
  known_.front()->issue(sequence);
}

}  // namespace sluice::cuda
