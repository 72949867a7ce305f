#pragma once
// Sequences of launches. A launch costs the host more time than a small kernel costs the GPU. As a node of a CUDA
// graph, it costs a fraction of that. So a sequence that comes again becomes a graph. Only for files of a GPU build.
#include <cstddef>
#include <list>
#include <memory>
#include <vector>

#include "core/device/launch_blocks.hpp"

namespace sluice::cuda {

/// Launches in the order in which they are issued.
class LaunchSequence {
 public:
  struct Launch {
    const char* name;
    const void* function;
    Blocks blocks;
    Place place;
    std::size_t at, bytes;  ///< of the arguments that are used

    bool like(const Launch& other) const {
      return function == other.function && blocks == other.blocks && place == other.place;
    }
  };

  void clear();
  /// Returns where to write the arguments, valid until the next call. `bytes`: of those that are used, which come
  /// first; `all`: of all that the function has.
  std::byte* add(const char* name, const void* function, const Blocks& blocks, Place place, std::size_t bytes,
                 std::size_t all);

  const std::vector<Launch>& launches() const { return launches_; }
  const std::byte* arguments(const Launch& launch) const { return arguments_.data() + launch.at; }
  /// Whether both have the same functions and thread blocks; their arguments may differ.
  bool like(const LaunchSequence& other) const;
  std::size_t hash() const;

 private:
  std::vector<Launch> launches_;
  // Arguments that are used follow each other. CUDA copies all that a function has: also some that belong to others.
  std::vector<std::byte> arguments_;  ///< kept by clear()
  std::size_t end_ = 0;
};

/// The sequences of one thread.
class LaunchGraphs {
 public:
  LaunchGraphs();
  LaunchGraphs(const LaunchGraphs&) = delete;
  LaunchGraphs& operator=(const LaunchGraphs&) = delete;
  ~LaunchGraphs();

  /// Issues the launches, in order with the loops.
  void issue(const LaunchSequence& sequence);

 private:
  class Graph;
  class Alike;
  std::list<std::unique_ptr<Alike>> known_;  ///< the most recently used first
};

}  // namespace sluice::cuda
