#pragma once
// The only place from which kernels start on an NVIDIA GPU. A kernel is a struct: its arguments, and what a thread
// does.
//
//   struct Fill {
//     static constexpr cuda::Bounds bounds{256};
//     real* to;
//     __device__ void operator()(const uint3& block) const;
//   };
//   cuda::launch("fill", {grid, threads}, Fill{to});
//
// `block` is what CUDA calls blockIdx. Where tasks of run_together() (together.hpp) launch the same kernel with the
// same thread blocks, one launch serves them all: the grids of the tasks follow each other along z. So a kernel must
// not use blockIdx or gridDim.z.
#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "core/device/launch_blocks.hpp"
#include "core/device/traits.hpp"

namespace sluice::cuda {

/// Launch bounds of a kernel.
struct Bounds {
  int threads;       ///< largest number of threads of a block
  int resident = 0;  ///< thread blocks whose registers must fit a multiprocessor; 0 leaves this to the compiler
};

/// The second launch bound in the vendor's terms. AMD counts the waves, of 64 threads, on each of the four SIMD units
/// of a multiprocessor, which holds eight of them.
constexpr int resident_bound(const Bounds& bounds) {
#ifdef __HIP_PLATFORM_AMD__
  return std::clamp(bounds.resident * bounds.threads / 256, 1, 8);
#else
  return bounds.resident;
#endif
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::bounds.threads) run_alone(const __grid_constant__ Kernel kernel) {
  kernel(uint3{blockIdx.x, blockIdx.y, blockIdx.z});
}
template <class Kernel>
__global__ void __launch_bounds__(Kernel::bounds.threads, resident_bound(Kernel::bounds))
    run_alone_resident(const __grid_constant__ Kernel kernel) {
  kernel(uint3{blockIdx.x, blockIdx.y, blockIdx.z});
}

/// How many kernels of a type one launch runs at most, as far as their size allows: few, because CUDA copies the
/// arguments of all whenever those of one change. Kernels of which a task launches many together say `most_together`.
template <class Kernel>
constexpr std::size_t most_together() {
  if constexpr (requires { Kernel::most_together; }) {
    return Kernel::most_together;
  } else {
    return 32;
  }
}

/// Kernels of one type that are independent of each other.
template <class Kernel>
struct SeveralKernels {
  static constexpr std::size_t max_bytes = device::bytes_of_arguments;
  static constexpr std::size_t most =
      std::clamp<std::size_t>(max_bytes / sizeof(Kernel), 1, cuda::most_together<Kernel>());

  unsigned depth;  ///< of the grid of each
  alignas(Kernel) unsigned char kernels[most * sizeof(Kernel)];

  __device__ __forceinline__ void run() const {
    const unsigned n = blockIdx.z / depth;
    reinterpret_cast<const Kernel*>(kernels)[n](uint3{blockIdx.x, blockIdx.y, blockIdx.z - n * depth});
  }
};

template <class Kernel>
__global__ void __launch_bounds__(Kernel::bounds.threads)
    run_several(const __grid_constant__ SeveralKernels<Kernel> several) {
  several.run();
}
template <class Kernel>
__global__ void __launch_bounds__(Kernel::bounds.threads, resident_bound(Kernel::bounds))
    run_several_resident(const __grid_constant__ SeveralKernels<Kernel> several) {
  several.run();
}

/// Whether one launch may run several kernels of this type. Kernels for grids that fill a GPU alone say `merges =
/// false`, and are compiled once.
template <class Kernel>
constexpr bool merges() {
  if constexpr (requires { Kernel::merges; }) {
    return Kernel::merges;
  } else {
    return true;
  }
}

template <class Kernel>
const void* function_alone() {
  if constexpr (Kernel::bounds.resident > 0) {
    return reinterpret_cast<const void*>(&run_alone_resident<Kernel>);
  } else {
    return reinterpret_cast<const void*>(&run_alone<Kernel>);
  }
}
template <class Kernel>
const void* function_of_several() {
  if constexpr (Kernel::bounds.resident > 0) {
    return reinterpret_cast<const void*>(&run_several_resident<Kernel>);
  } else {
    return reinterpret_cast<const void*>(&run_several<Kernel>);
  }
}

template <class Kernel>
constexpr KernelKind make_kind() {
  if constexpr (merges<Kernel>()) {
    using Several = SeveralKernels<Kernel>;
    return {sizeof(Kernel),          Several::most,
            sizeof(Several),         offsetof(Several, kernels),
            &function_alone<Kernel>, &function_of_several<Kernel>};
  } else {
    return {sizeof(Kernel), 1, 0, 0, &function_alone<Kernel>, nullptr};
  }
}
template <class Kernel>
inline constexpr KernelKind kind_of = make_kind<Kernel>();

/// `name`: a string literal, for messages.
template <class Kernel>
void launch(const char* name, const Blocks& blocks, const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel>);
  if (!enqueue(kind_of<Kernel>, name, blocks, &kernel)) start(name, function_alone<Kernel>(), blocks, &kernel);
}

/// One of several kernels that have the same arguments; none by default.
template <class Arguments>
struct ChosenKernel {
  const void* (*function)() = nullptr;
  void (*run)(const char* name, const Blocks& blocks, const Arguments& arguments) = nullptr;

  template <class Kernel>
  static constexpr ChosenKernel of() {
    return {&function_alone<Kernel>, [](const char* name, const Blocks& blocks, const Arguments& arguments) {
              launch(name, blocks, Kernel{arguments});
            }};
  }
  explicit constexpr operator bool() const { return run != nullptr; }
};

}  // namespace sluice::cuda
