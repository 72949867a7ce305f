#pragma once
// Thread blocks of a GPU that share their shared memory. Only for files of a GPU build.

namespace sluice::device {

/// Shared memory of the thread blocks of a cluster.
struct PeersInCluster {
  static constexpr bool any = true;

  __device__ double* operator()(double* mine, int part) const {
#if __CUDA_ARCH__ >= 900
    return static_cast<double*>(__cluster_map_shared_rank(mine, static_cast<unsigned>(part)));
#else
    return mine;  // clusters of one
#endif
  }
};

/// A barrier of all threads of a cluster.
__device__ inline void synchronize_cluster() {
#if __CUDA_ARCH__ >= 900
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
#endif
}

}  // namespace sluice::device
