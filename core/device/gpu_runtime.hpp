#pragma once
// The runtime of the GPU's vendor: CUDA's, or HIP's under CUDA's names. Only for files of a GPU build. What a vendor
// lacks has a plain form beside it: clusters.hpp, copy_ahead.hpp, lanes.hpp, launch_queue_cuda.cpp.
#ifdef SLUICE_HIP
#include "core/device/hip_names.hpp"
#else
#include <cuda_runtime.h>
#endif
