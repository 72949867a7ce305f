#include "poisson/tridiagonal/tile_solver.hpp"

#include <cstdint>

#include "core/device/check_cuda.hpp"
#include "core/support/error.hpp"

namespace sluice {

namespace {

const char* const name = "tridiagonal";

/// Tiles of most threads that the registers of a multiprocessor shall hold.
template <class Lines>
constexpr int resident = sizeof(real) == sizeof(double) ? 1
                         : Lines::components == 2       ? 3
                                                        : 2;

/// A block of threads for each tile.
template <class Lines, int Lanes, class Shape>
__global__ void __launch_bounds__(most_threads_of_tile, resident<Lines>)
    solve_tiles(const __grid_constant__ LineTiles<Lines, Lanes> tiles) {
  extern __shared__ __align__(16) double shared[];
  LineTile<Lines, Lanes, Shape> tile(tiles, static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x), shared);
  tile.read();
  __syncthreads();
  tile.prepare();  // while the rows are on their way
  wait_for_copies();
  __syncthreads();
  tile.form_boundary();
  __syncthreads();
  tile.sweep_up();
  __syncthreads();
  tile.turn();
  __syncthreads();
  tile.sweep_down();
  __syncthreads();
  tile.solve();
}

/// The widest tile of which a multiprocessor holds two, or, failing that, one.
template <class Tiles>
int width_of_tiles(int planes, int blocks) {
  static const auto of_block =
      static_cast<std::size_t>(cuda::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  for (const std::size_t limit : {of_block / 2 - 1024, of_block}) {
    for (int width = Tiles::widest; width >= Tiles::narrowest; width /= 2) {
      if (width * blocks <= most_threads_of_tile && Tiles::shared_bytes(planes, blocks, width) <= limit) return width;
    }
  }
  throw Error(ExitCode::internal, "a grid that tiles in shared memory do not serve");
}

template <class Lines, int Lanes>
void solve_in_lanes(LineTiles<Lines, Lanes> tiles, std::int64_t longest) {
  using Tiles = LineTiles<Lines, Lanes>;
  constexpr int pack = Lanes * static_cast<int>(sizeof(real));
  const auto address = reinterpret_cast<std::uintptr_t>(tiles.x.origin);
  const auto stride = static_cast<std::uintptr_t>(tiles.x.stride_z) * sizeof(real);
  tiles.width = width_of_tiles<Tiles>(tiles.planes, tiles.blocks());
  tiles.shift = static_cast<int>(address % Tiles::sector / sizeof(real));
  tiles.pieces = stride % 16 == 0 && pack * tiles.width >= 16 ? 16 / pack : 0;
  const std::size_t shared = Tiles::shared_bytes(tiles.planes, tiles.blocks(), tiles.width);
  with_shape(longest, [&](auto shape) {
    const auto kernel = solve_tiles<Lines, Lanes, decltype(shape)>;
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)),
               name);
    kernel<<<static_cast<unsigned>(tiles.tiles()), static_cast<unsigned>(tiles.width * tiles.blocks()), shared>>>(
        tiles);
    check_cuda(cudaGetLastError(), name);
  });
}

/// Whether packs of real numbers begin at multiples of their size.
bool aligned(const LineArray& x, int lanes) {
  return reinterpret_cast<std::uintptr_t>(x.origin) % (static_cast<std::size_t>(lanes) * sizeof(real)) == 0 &&
         x.stride_y % lanes == 0 && x.stride_z % lanes == 0;
}

}  // namespace

template <class Lines>
void TileKernels<Lines>::solve(const Lines& lines, const LineArray& x, int planes, std::int64_t longest) {
  if (x.rows == 0 || x.count == 0 || lines.blocks.count == 0) return;
  constexpr int lanes = Lines::components == 2 ? 2 : 16 / sizeof(real);
  if (aligned(x, lanes)) {
    solve_in_lanes<Lines, lanes>({lines, x, planes}, longest);
  } else {
    SLUICE_REQUIRE(Lines::components == 1, "complex numbers begin at multiples of their size");
    if constexpr (Lines::components == 1) solve_in_lanes<Lines, 1>({lines, x, planes}, longest);
  }
}

template struct TileKernels<ShiftedLines>;
template struct TileKernels<TableLines>;

}  // namespace sluice
