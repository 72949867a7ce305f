#pragma once
// What launch_cuda.hpp needs that does not depend on the kernel. Only for files of a GPU build.
#include "core/device/gpu_runtime.hpp"

#include <cstddef>

namespace sluice::cuda {

/// The thread blocks of a launch.
struct Blocks {
  dim3 grid;
  dim3 threads;
  std::size_t shared_bytes = 0;  ///< dynamic shared memory of each
  unsigned cluster = 1;          ///< thread blocks of a cluster, neighbours along x

  bool operator==(const Blocks& other) const;
};

/// Where a launch has its place among others that are issued before and after it.
enum class Place {
  next,       ///< after the one before it that is not aside
  aside,      ///< after the one before it that is aside; if there is none since after_all, after the one before it
  after_all,  ///< after all
};

/// A kernel of one type, for code that does not know the type.
struct KernelKind {
  std::size_t bytes;             ///< of a kernel
  std::size_t most;              ///< largest number of kernels that one launch runs
  std::size_t bytes_of_several;  ///< of the arguments of such a launch
  std::size_t kernels_at;        ///< where these have the kernels; at 0 they have the depth of the grid of each
  const void* (*alone)();        ///< the CUDA function that runs one
  const void* (*several)();      ///< the CUDA function that runs several; null if most is 1
};

/// Starts a CUDA function with these arguments.
void start(const char* name, const void* function, const Blocks& blocks, const void* arguments);

/// If the tasks of run_together() run, puts the launch into the queue of the present one and returns true.
bool enqueue(const KernelKind& kind, const char* name, const Blocks& blocks, const void* kernel);

/// How many clusters of this launch the GPU holds at a time; without clusters, how many thread blocks.
int resident_blocks(const void* function, const Blocks& blocks);

}  // namespace sluice::cuda
