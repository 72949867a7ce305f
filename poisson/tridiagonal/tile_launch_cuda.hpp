#pragma once
// The kernel that solves tiles of lines (line_tiles.hpp), and its launch. For line_strategies_cuda.cpp alone.
#include <algorithm>
#include <cstdint>

#include "core/device/check_cuda.hpp"
#include "core/device/clusters.hpp"
#include "core/device/tuning.hpp"
#include "core/support/error.hpp"
#include "poisson/tridiagonal/line_plan.hpp"
#include "poisson/tridiagonal/line_tiles.hpp"

namespace sluice::lines_on_gpu {

inline constexpr const char* kernel_name = "tridiagonal";  ///< of all kernels, in messages

/// Number of tiles of maximum threads whose registers must fit a multiprocessor.
template <class Lines>
constexpr int resident = Lines::components == 2 ? tuning::lines::resident_complex : tuning::lines::resident_real;

/// Whether a thread block solves several tiles. Complex lines have no registers left for it.
template <class Lines>
constexpr bool solves_several = Lines::components == 1;

/// A thread block, or a cluster of `parts` of them, solves one tile after another, and copies the rows of the next one
/// while it writes those of the last.
template <class Lines, int Lanes, class Shape, class Peers>
__global__ void __launch_bounds__(tuning::lines::max_threads_of_tile, resident<Lines>)
    solve_tiles(const __grid_constant__ LineTiles<Lines, Lanes> tiles) {
  extern __shared__ __align__(16) double shared[];
  const int parts = Peers::any ? tiles.parts : 1;
  const int part = static_cast<int>(blockIdx.x) % parts;
  LineTile<Lines, Lanes, Shape, Peers> tile(tiles, part, static_cast<int>(threadIdx.x), shared, {});
  int at = static_cast<int>(blockIdx.x) / parts;
  tile.load_table();
  tile.go_to(at);
  tile.read();
  end_group_of_copies();
  tile.load();
  wait_for_earlier_groups();
  __syncthreads();
  while (true) {
    tile.prepare();  // while the rows are being copied
    wait_for_copies();
    __syncthreads();
    tile.form_boundary();
    __syncthreads();
    tile.sweep_up();
    if constexpr (Peers::any) {
      device::synchronize_cluster();
      tile.join_up();
    }
    __syncthreads();
    tile.turn();
    __syncthreads();
    tile.sweep_down();
    if constexpr (Peers::any) {
      device::synchronize_cluster();
      tile.join_down();
    }
    __syncthreads();
    if constexpr (!solves_several<Lines>) {
      tile.solve(tile.none);
      break;
    }
    at += static_cast<int>(gridDim.x) / parts;
    tile.solve(at);
    if (at >= tiles.tiles()) break;
    tile.go_to(at);
    tile.load();
  }
  if constexpr (Peers::any) device::synchronize_cluster();  // until no other part reads this one's shared memory
}

/// How solve_tiles is launched.
class TileLaunch {
 public:
  TileLaunch(int parts, int threads, std::size_t shared) {
    attribute_.id = cudaLaunchAttributeClusterDimension;
    attribute_.val.clusterDim = {static_cast<unsigned>(parts), 1, 1};
    config_.blockDim = static_cast<unsigned>(threads);
    config_.gridDim = static_cast<unsigned>(parts);
    config_.dynamicSmemBytes = shared;
    config_.attrs = &attribute_;
    config_.numAttrs = parts > 1 ? 1 : 0;
  }
  TileLaunch(const TileLaunch&) = delete;
  TileLaunch& operator=(const TileLaunch&) = delete;

  /// With one thread block (or cluster) per tile, or at most as many as the GPU holds at a time.
  template <class Tiles>
  void operator()(void (*kernel)(Tiles), const Tiles& tiles, bool all_at_once) {
    const auto shared = static_cast<int>(config_.dynamicSmemBytes);
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), kernel_name);
    const int count = all_at_once ? tiles.tiles() : std::min(tiles.tiles(), std::max(1, resident_tiles(kernel)));
    config_.gridDim = static_cast<unsigned>(count * tiles.parts);
    check_cuda(cudaLaunchKernelEx(&config_, kernel, tiles), kernel_name);
  }

 private:
  template <class Kernel>
  int resident_tiles(Kernel* kernel) const {
    int count = 0;
    if (config_.numAttrs > 0) {
      check_cuda(cudaOccupancyMaxActiveClusters(&count, kernel, &config_), kernel_name);
      return count;
    }
    check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, kernel, static_cast<int>(config_.blockDim.x),
                                                             config_.dynamicSmemBytes),
               kernel_name);
    return count * device::multiprocessors().count;
  }

  cudaLaunchAttribute attribute_ = {};
  cudaLaunchConfig_t config_ = {};
};

template <class Lines, int Lanes>
void launch_tiles(LineTiles<Lines, Lanes> tiles, const LinePlan& plan) {
  tiles.set_parts(plan.tile_parts);
  // The widest tile of which a multiprocessor holds two parts, else one.
  const auto fits = [&](std::size_t limit) {
    for (tiles.width = tiles.widest; tiles.width >= tiles.narrowest; tiles.width /= 2) {
      if (tiles.threads() <= tuning::lines::max_threads_of_tile && tiles.shared_bytes() <= limit) return true;
    }
    return false;
  };
  const device::Multiprocessors& on = device::multiprocessors();
  SLUICE_REQUIRE(fits(on.shared_bytes / 2 - on.reserved_bytes_of_block) || fits(on.max_shared_bytes_of_block),
                 "tiles in shared memory must fit the grid");
  constexpr int pack = Lanes * static_cast<int>(sizeof(real));
  const auto address = reinterpret_cast<std::uintptr_t>(tiles.x.origin);
  const auto stride = static_cast<std::uintptr_t>(tiles.x.stride_z) * sizeof(real);
  tiles.shift = static_cast<int>(address % tiles.sector / sizeof(real));
  constexpr int piece = device::widest_access;
  tiles.pieces = stride % piece == 0 && pack * tiles.width >= piece ? piece / pack : 0;
  with_shape(plan.longest(), [&](auto shape) {
    TileLaunch launch(tiles.parts, tiles.threads(), tiles.shared_bytes());
    const bool all_at_once = !solves_several<Lines> || tiles.pieces > 1;
    if (tiles.parts > 1) {
      launch(solve_tiles<Lines, Lanes, decltype(shape), device::PeersInCluster>, tiles, all_at_once);
    } else {
      launch(solve_tiles<Lines, Lanes, decltype(shape), NoPeers>, tiles, all_at_once);
    }
  });
}

/// Whether packs of real numbers are aligned to their size.
inline bool aligned(const LineArray& x, int lanes) {
  return reinterpret_cast<std::uintptr_t>(x.origin) % (static_cast<std::size_t>(lanes) * sizeof(real)) == 0 &&
         x.stride_y % lanes == 0 && x.stride_z % lanes == 0;
}

/// Solves the rows of `lines` in shared memory.
template <class Lines>
void solve_in_tiles(const Lines& lines, const LineArray& x, const LinePlan& plan) {
  if (x.rows == 0 || x.count == 0 || lines.blocks.count == 0) return;
  constexpr int lanes = Lines::components == 2 ? 2 : device::widest_access / sizeof(real);
  if (aligned(x, lanes)) {
    launch_tiles<Lines, lanes>({lines, x}, plan);
  } else {
    SLUICE_REQUIRE(Lines::components == 1, "complex numbers begin at multiples of their size");
    if constexpr (Lines::components == 1) launch_tiles<Lines, 1>({lines, x}, plan);
  }
}

}  // namespace sluice::lines_on_gpu
