#include "core/device/launch_graphs.hpp"

#include <cstring>
#include <functional>
#include <utility>

#include "core/device/check_cuda.hpp"

namespace sluice::cuda {

namespace {

/// Launches of a shorter sequence are issued one by one.
constexpr std::size_t min_launches = 4;
/// How many sequences are kept.
constexpr std::size_t max_graphs = 64;
/// How often a sequence is issued launch by launch before it becomes a graph: making one costs more than its launches,
/// and many sequences never come again.
constexpr int calls_before_graph = 2;

constexpr std::size_t alignment = alignof(std::max_align_t);

constexpr const char* graph_name = "a sequence of GPU kernels";

}  // namespace

void LaunchSequence::clear() {
  launches_.clear();
  arguments_.clear();
}

std::byte* LaunchSequence::add(const char* name, const void* function, const Blocks& blocks, std::size_t bytes) {
  const std::size_t at = arguments_.size();
  arguments_.resize(at + (bytes + alignment - 1) / alignment * alignment);
  launches_.push_back({name, function, blocks, at, bytes});
  return arguments_.data() + at;
}

bool LaunchSequence::like(const LaunchSequence& other) const {
  if (launches_.size() != other.launches_.size()) return false;
  for (std::size_t n = 0; n < launches_.size(); ++n) {
    if (launches_[n].function != other.launches_[n].function || !(launches_[n].blocks == other.launches_[n].blocks))
      return false;
  }
  return true;
}

std::size_t LaunchSequence::hash() const {
  std::size_t hash = launches_.size();
  for (const Launch& launch : launches_)
    hash = hash * 1099511628211U + std::hash<const void*>()(launch.function) + launch.blocks.grid.z;
  return hash;
}

/// A sequence that has been issued, with its graph if it came often enough.
class LaunchGraphs::Graph {
 public:
  explicit Graph(const LaunchSequence& sequence) : sequence_(sequence), hash_(sequence.hash()) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
  }

  bool is_of(const LaunchSequence& sequence, std::size_t hash) const {
    return hash == hash_ && sequence_.like(sequence);
  }

  void issue(const LaunchSequence& sequence) {
    if (++calls_ <= calls_before_graph) {
      for (const LaunchSequence::Launch& launch : sequence.launches())
        start(launch.name, launch.function, launch.blocks, sequence.arguments(launch));
      return;
    }
    if (executable_ == nullptr) {
      make(sequence);
    } else {
      update(sequence);
    }
    check_cuda(cudaGraphLaunch(executable_, nullptr), graph_name);
  }

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

  void make(const LaunchSequence& sequence) {
    sequence_ = sequence;
    check_cuda(cudaGraphCreate(&graph_, 0), graph_name);
    for (const LaunchSequence::Launch& launch : sequence_.launches()) {
      const Parameters parameters(sequence_, launch);
      cudaGraphNode_t node = nullptr;
      const cudaGraphNode_t* const before = nodes_.empty() ? nullptr : &nodes_.back();
      check_cuda(cudaGraphAddKernelNode(&node, graph_, before, nodes_.empty() ? 0 : 1, &parameters.node), launch.name);
      if (launch.blocks.cluster > 1) {
        cudaLaunchAttributeValue value = {};
        value.clusterDim = {launch.blocks.cluster, 1, 1};
        check_cuda(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &value), launch.name);
      }
      nodes_.push_back(node);
    }
    check_cuda(cudaGraphInstantiate(&executable_, graph_, 0), graph_name);
  }

  void update(const LaunchSequence& sequence) {
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const LaunchSequence::Launch& launch = sequence.launches()[n];
      const std::byte* const arguments = sequence.arguments(launch);
      auto* const kept = const_cast<std::byte*>(sequence_.arguments(sequence_.launches()[n]));
      if (std::memcmp(kept, arguments, launch.bytes) == 0) continue;
      std::memcpy(kept, arguments, launch.bytes);
      const Parameters parameters(sequence_, sequence_.launches()[n]);
      check_cuda(cudaGraphExecKernelNodeSetParams(executable_, nodes_[n], &parameters.node), launch.name);
    }
  }

  LaunchSequence sequence_;  ///< with the arguments of the last call
  std::size_t hash_;
  int calls_ = 0;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
  std::vector<cudaGraphNode_t> nodes_;
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
  auto at = graphs_.begin();
  while (at != graphs_.end() && !(*at)->is_of(sequence, hash)) ++at;
  if (at == graphs_.end()) {
    if (graphs_.size() == max_graphs) graphs_.pop_back();
    graphs_.push_front(std::make_unique<Graph>(sequence));
  } else if (at != graphs_.begin()) {
    graphs_.splice(graphs_.begin(), graphs_, at);
  }
  graphs_.front()->issue(sequence);
}

}  // namespace sluice::cuda
