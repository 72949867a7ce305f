#pragma once
// Thread blocks of a GPU that share their shared memory. Only for files of a GPU build.

namespace sluice::device {

/// Whether any GPU of the build has clusters.
#ifdef SLUICE_HIP
inline constexpr bool some_have_clusters = false;
#else
inline constexpr bool some_have_clusters = true;
#endif

/// What is at `mine` in this thread block's shared memory, in that of thread block `part` of its cluster.
template <class T>
__device__ __forceinline__ T* in_part(T* mine, [[maybe_unused]] int part) {
#if __CUDA_ARCH__ >= 900 && !defined(SLUICE_HIP)
  return static_cast<T*>(__cluster_map_shared_rank(mine, static_cast<unsigned>(part)));
#else
  return mine;  // clusters of one
#endif
}

/// Shared memory of the thread blocks of a cluster.
struct PeersInCluster {
  static constexpr bool any = true;
  __device__ double* operator()(double* mine, int part) const { return in_part(mine, part); }
};

/// The thread blocks of the cluster, and the number of this one.
__device__ inline int parts_of_cluster() {
#if __CUDA_ARCH__ >= 900 && !defined(SLUICE_HIP)
  return static_cast<int>(__clusterSizeInBlocks());
#else
  return 1;
#endif
}
__device__ inline int part_in_cluster() {
#if __CUDA_ARCH__ >= 900 && !defined(SLUICE_HIP)
  return static_cast<int>(__clusterRelativeBlockRank());
#else
  return 0;
#endif
}

/// A barrier of all threads of a cluster.
__device__ inline void synchronize_cluster() {
#if __CUDA_ARCH__ >= 900 && !defined(SLUICE_HIP)
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
#else
  __syncthreads();
#endif
}

}  // namespace sluice::device
