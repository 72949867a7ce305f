#pragma once
// Exchange of values among the lanes of a warp: 32 threads that run together, of which a wave of an AMD GPU may have
// two. All lanes of a warp call these functions together, unless said otherwise. Only for kernels.
#include "core/device/gpu_runtime.hpp"
#include "core/device/traits.hpp"

namespace sluice::device {

inline constexpr unsigned all_lanes = 0xffffffffU;

/// The value of the lane whose number is this one's with the bits of `mask` flipped. `lanes`: a bit for each lane that
/// calls it.
template <class T>
__device__ __forceinline__ T of_lane_xor(T value, int mask, [[maybe_unused]] unsigned lanes = all_lanes) {
#ifdef __HIP_PLATFORM_AMD__
  return __shfl_xor(value, mask, warp);
#else
  return __shfl_xor_sync(lanes, value, mask);
#endif
}

/// The value of the lane that is `offset` above this one; of this one if there is none.
template <class T>
__device__ __forceinline__ T of_lane_above(T value, int offset) {
#ifdef __HIP_PLATFORM_AMD__
  return __shfl_down(value, static_cast<unsigned>(offset), warp);
#else
  return __shfl_down_sync(all_lanes, value, static_cast<unsigned>(offset));
#endif
}

/// Whether the condition holds in any lane of the warp; on AMD GPUs, of the wave that the warp is a part of.
__device__ __forceinline__ bool in_any_lane(bool condition) {
#ifdef __HIP_PLATFORM_AMD__
  return __any(condition) != 0;
#else
  return __any_sync(all_lanes, condition) != 0;
#endif
}

/// A barrier of the lanes of a warp.
__device__ __forceinline__ void synchronize_lanes() {
#ifdef __HIP_PLATFORM_AMD__
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
#else
  __syncwarp();
#endif
}

}  // namespace sluice::device
