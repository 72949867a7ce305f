#pragma once
// The kernel that solves tiles of lines (line_tiles.hpp), and its launch. For line_strategies_cuda.cpp alone.
#include <algorithm>
#include <cstdint>

#include "core/device/clusters.hpp"
#include "core/device/launch_cuda.hpp"
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

/// A thread block, or a cluster of `parts` of them, solves one tile after another. Where copies are asynchronous, it
/// copies the rows of the next one while it writes those of the last.
template <class Lines, int Lanes, class Shape, class Peers>
struct SolveTiles {
  static constexpr cuda::Bounds bounds{tuning::lines::max_threads_of_tile, resident<Lines>};

  LineTiles<Lines, Lanes> tiles;

  __device__ void operator()(const uint3& block) const {
    extern __shared__ __align__(16) double shared[];
    const int parts = Peers::any ? tiles.parts : 1;
    const int part = static_cast<int>(block.x) % parts;
    LineTile<Lines, Lanes, Shape, Peers> tile(tiles, part, static_cast<int>(threadIdx.x), shared, {});
    int at = static_cast<int>(block.x) / parts;
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
      tile.solve(copies_are_asynchronous ? at : tile.none);
      if (at >= tiles.tiles()) break;
      tile.go_to(at);
      if constexpr (!copies_are_asynchronous) tile.read();
      tile.load();
    }
    if constexpr (Peers::any) device::synchronize_cluster();  // until no other part reads this one's shared memory
  }
};

/// Launches a thread block (or cluster) for each tile, or at most as many as the GPU holds at a time.
template <class Kernel, class Tiles>
void launch_kernel(const Tiles& tiles, bool all_at_once) {
  const auto parts = static_cast<unsigned>(tiles.parts);
  cuda::Blocks blocks{dim3(parts), dim3(static_cast<unsigned>(tiles.threads())), tiles.shared_bytes(), parts};
  int count = tiles.tiles();
  if (!all_at_once) count = std::min(count, std::max(1, cuda::resident_blocks(cuda::function_alone<Kernel>(), blocks)));
  blocks.grid.x *= static_cast<unsigned>(count);
  cuda::launch(kernel_name, blocks, Kernel{tiles});
}

template <class Lines, int Lanes>
void launch_tiles(LineTiles<Lines, Lanes> tiles, const LinePlan& plan) {
  tiles.set_parts(plan.tile_parts);
  // The widest tile of which a multiprocessor holds as many parts as wanted, else one.
  const auto fits = [&](std::size_t limit) {
    for (tiles.width = tiles.widest; tiles.width >= tiles.narrowest; tiles.width /= 2) {
      if (tiles.threads() <= tuning::lines::max_threads_of_tile && tiles.shared_bytes() <= limit) return true;
    }
    return false;
  };
  const device::Multiprocessors& on = device::multiprocessors();
  SLUICE_REQUIRE(fits(on.shared_bytes / tuning::lines::tiles_wanted - on.reserved_bytes_of_block) ||
                     fits(on.max_shared_bytes_of_block),
                 "tiles in shared memory must fit the grid");
  constexpr int pack = Lanes * static_cast<int>(sizeof(real));
  const auto address = reinterpret_cast<std::uintptr_t>(tiles.x.origin);
  const auto stride = static_cast<std::uintptr_t>(tiles.x.stride_z) * sizeof(real);
  tiles.shift = static_cast<int>(address % tiles.sector / sizeof(real));
  constexpr int piece = device::widest_access;
  tiles.pieces = stride % piece == 0 && pack * tiles.width >= piece ? piece / pack : 0;
  with_shape(plan.longest(), [&](auto shape) {
    const bool all_at_once = !solves_several<Lines> || tiles.pieces > 1;
    if constexpr (device::some_have_clusters) {
      if (tiles.parts > 1) {
        launch_kernel<SolveTiles<Lines, Lanes, decltype(shape), device::PeersInCluster>>(tiles, all_at_once);
        return;
      }
    }
    SLUICE_REQUIRE(tiles.parts == 1, "only a GPU with clusters solves tiles in parts");
    launch_kernel<SolveTiles<Lines, Lanes, decltype(shape), NoPeers>>(tiles, all_at_once);
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
