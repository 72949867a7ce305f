#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/device/check_cuda.hpp"
#include "core/support/error.hpp"
#include "poisson/tridiagonal/block_kernels.hpp"
#include "poisson/tridiagonal/line_strategies.hpp"
#include "poisson/tridiagonal/line_tiles.hpp"

namespace sluice {

namespace {

const char* const name = "tridiagonal";

constexpr int threads_of_blocks = 128;  ///< per thread block, where a thread has one z block
constexpr int threads_of_lines = 64;    ///< per thread block, where a thread has a reduced system in shared memory

/// Maximum bytes of shared memory for the latter: 200 KiB, or the GPU's limit.
std::size_t shared_of_lines() {
  static const std::size_t limit =
      std::min(std::size_t{200} * 1024,
               static_cast<std::size_t>(cuda::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)));
  return limit;
}

/// One thread for each line (x fastest, row after row) and z block (blockIdx.y).
template <int Threads, int Lanes, class Kernel>
__global__ void __launch_bounds__(Threads) for_each_block(int in_row, unsigned lines, Kernel kernel) {
  const unsigned line = blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= lines) return;
  const unsigned j = line / static_cast<unsigned>(in_row);
  kernel(static_cast<int>(line - j * static_cast<unsigned>(in_row)) * Lanes, static_cast<int>(j),
         static_cast<int>(blockIdx.y));
}

template <int Lanes, class Kernel, int Threads = threads_of_blocks>
void launch_blocks(const LineArray& array, int blocks, const Kernel& kernel) {
  const int in_row = array.count / Lanes;
  const auto lines = static_cast<unsigned>(in_row) * static_cast<unsigned>(array.rows);
  if (lines == 0 || blocks == 0) return;
  for_each_block<Threads, Lanes><<<dim3((lines + Threads - 1) / Threads, blocks), Threads>>>(in_row, lines, kernel);
  check_cuda(cudaGetLastError(), name);
}

/// Thread blocks per multiprocessor for which shared memory suffices if z blocks have 32 rows; limits registers too.
constexpr int resident_on_chip = 3;

/// for_each_block for a kernel whose threads hold their rows in shared memory.
template <int Lanes, class Kernel>
__global__ void __launch_bounds__(threads_of_blocks, resident_on_chip)
    for_each_block_on_chip(int in_row, unsigned lines, const __grid_constant__ Kernel kernel) {
  extern __shared__ __align__(16) double shared[];
  const unsigned line = blockIdx.x * threads_of_blocks + threadIdx.x;
  const auto j = static_cast<int>(line / static_cast<unsigned>(in_row));
  const int lane = static_cast<int>(line - static_cast<unsigned>(j) * static_cast<unsigned>(in_row)) * Lanes;
  const auto block = static_cast<int>(blockIdx.y);
  real* const rows = reinterpret_cast<real*>(shared + Kernel::table_size) + threadIdx.x * Lanes;
  constexpr int pitch = threads_of_blocks * Lanes;
  if (line < lines) kernel.bring_rows(lane, j, block, rows, pitch);
  kernel.bring_table(block, static_cast<int>(threadIdx.x), threads_of_blocks, shared);
  __syncthreads();
  if (line < lines) kernel.solve(lane, j, block, shared, rows, pitch);
}

template <int Lanes, class Kernel>
void launch_blocks_on_chip(const LineArray& array, int blocks, const Kernel& kernel) {
  const int in_row = array.count / Lanes;
  const auto lines = static_cast<unsigned>(in_row) * static_cast<unsigned>(array.rows);
  if (lines == 0 || blocks == 0) return;
  constexpr std::size_t shared = Kernel::shared_bytes(threads_of_blocks);
  check_cuda(cudaFuncSetAttribute(for_each_block_on_chip<Lanes, Kernel>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(shared)),
             name);
  for_each_block_on_chip<Lanes>
      <<<dim3((lines + threads_of_blocks - 1) / threads_of_blocks, blocks), threads_of_blocks, shared>>>(in_row, lines,
                                                                                                         kernel);
  check_cuda(cudaGetLastError(), name);
}

/// One thread for each line, with a column of shared memory for its intermediate values.
template <int Lanes, class Kernel>
__global__ void __launch_bounds__(threads_of_lines) for_each_line(int in_row, unsigned lines, Kernel kernel) {
  extern __shared__ double shared[];
  const unsigned line = blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= lines) return;
  const unsigned j = line / static_cast<unsigned>(in_row);
  kernel(static_cast<int>(line - j * static_cast<unsigned>(in_row)) * Lanes, static_cast<int>(j),
         shared + threadIdx.x * Lanes, static_cast<std::ptrdiff_t>(blockDim.x) * Lanes);
}

template <int Lanes, class Kernel>
void launch_lines(const LineArray& array, int blocks, const Kernel& kernel) {
  const int in_row = array.count / Lanes;
  const auto lines = static_cast<unsigned>(in_row) * static_cast<unsigned>(array.rows);
  if (lines == 0) return;
  const std::size_t column = sizeof(double) * 2 * Lanes * static_cast<std::size_t>(blocks);
  unsigned threads = threads_of_lines;  // fewer if necessary; the result is the same
  while (threads > 8 && threads * column > shared_of_lines()) threads /= 2;
  check_cuda(cudaFuncSetAttribute(for_each_line<Lanes, Kernel>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(threads * column)),
             name);
  for_each_line<Lanes><<<(lines + threads - 1) / threads, threads, threads * column>>>(in_row, lines, kernel);
  check_cuda(cudaGetLastError(), name);
}

/// Number of tiles of maximum threads whose registers must fit a multiprocessor.
template <class Lines>
constexpr int resident = sizeof(real) == sizeof(double) ? 1
                         : Lines::components == 2       ? 3
                                                        : 2;

/// One thread block per tile.
template <class Lines, int Lanes, class Shape>
__global__ void __launch_bounds__(max_threads_of_tile, resident<Lines>)
    solve_tiles(const __grid_constant__ LineTiles<Lines, Lanes> tiles) {
  extern __shared__ __align__(16) double shared[];
  LineTile<Lines, Lanes, Shape> tile(tiles, static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x), shared);
  tile.read();
  __syncthreads();
  tile.prepare();  // while the rows are being copied
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

/// The widest tile of which two fit a multiprocessor, else one.
template <class Tiles>
int width_of_tiles(int planes, int blocks) {
  static const auto of_block =
      static_cast<std::size_t>(cuda::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  for (const std::size_t limit : {of_block / 2 - 1024, of_block}) {
    for (int width = Tiles::widest; width >= Tiles::narrowest; width /= 2) {
      if (width * blocks <= max_threads_of_tile && Tiles::shared_bytes(planes, blocks, width) <= limit) return width;
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

/// Whether packs of real numbers are aligned to their size.
bool aligned(const LineArray& x, int lanes) {
  return reinterpret_cast<std::uintptr_t>(x.origin) % (static_cast<std::size_t>(lanes) * sizeof(real)) == 0 &&
         x.stride_y % lanes == 0 && x.stride_z % lanes == 0;
}

/// Lines in shared memory.
template <class Lines>
class Tiles final : public LineSolver<Lines> {
 public:
  Tiles(const LineBoxes& boxes, const LinePlan& plan) : planes_(boxes.my_home().nz()), longest_(plan.longest) {}

  void solve(const Lines& /*at_home*/, const Lines& whole, const LineArray& x) override {
    if (x.rows == 0 || x.count == 0 || whole.blocks.count == 0) return;
    constexpr int lanes = Lines::components == 2 ? 2 : 16 / sizeof(real);
    if (aligned(x, lanes)) {
      solve_in_lanes<Lines, lanes>({whole, x, planes_}, longest_);
    } else {
      SLUICE_REQUIRE(Lines::components == 1, "complex numbers begin at multiples of their size");
      if constexpr (Lines::components == 1) solve_in_lanes<Lines, 1>({whole, x, planes_}, longest_);
    }
  }

 private:
  int planes_;
  std::int64_t longest_;
};

/// One pass forms the boundary equations of blocks, a second solves their insides in shared memory; in between,
/// boundary values are exchanged. With `condensed`, each rank first condenses its boundary values to two per line.
template <class Lines>
class TwoPassesOnChip final : public LineSolver<Lines> {
 public:
  TwoPassesOnChip(const Communicator& comm, const Decomposition& decomposition, const LineBoxes& boxes,
                  const LinePlan& plan, Exchange& exchange)
      : first_block_(plan.first_block()),
        blocks_(plan.blocks_here()),
        longest_(plan.longest),
        boundary_(boxes.my_home(), lanes, blocks_),
        column_(comm, decomposition, boxes, plan, lanes, exchange) {
    if (plan.is_condensed()) ends_.emplace(boxes.my_home(), lanes, 1);
  }

  void solve(const Lines& at_home, const Lines& whole, const LineArray& x) override {
    const LineArray& boundary = boundary_.array();
    launch_blocks<lanes>(x, blocks_, FormBoundaryInTurns<Lines, lanes>{at_home, x, boundary, first_block_});
    if (ends_) {
      const Lines here = narrowed_to(at_home, first_block_, blocks_);
      const LineArray& ends = ends_->array();
      launch_lines<lanes>(boundary, 0, CondenseBlocks<Lines, lanes>{here, boundary, ends});
      solve_reduced(whole, *ends_);
      launch_lines<lanes>(boundary, blocks_, ExpandBlocks<Lines, lanes>{here, boundary, ends});
    } else {
      solve_reduced(whole, boundary_);
    }
    with_shape(longest_, [&](auto shape) {
      launch_blocks_on_chip<lanes>(
          x, blocks_, SolveInteriorOnChip<Lines, lanes, decltype(shape)>{at_home, x, boundary, first_block_});
    });
  }

 private:
  static constexpr int lanes = Lines::components;

  void solve_reduced(const Lines& whole, const BoundaryValues& values) {
    const LineArray lines = column_.forward(values.array(), values.planes());
    launch_lines<lanes>(lines, whole.blocks.count, SolveReducedOnChip<Lines, lanes>{whole, lines});
    column_.backward(values.array(), values.planes());
  }

  int first_block_, blocks_;
  std::int64_t longest_;
  BoundaryValues boundary_;
  std::optional<BoundaryValues> ends_;  ///< with `condensed`
  ColumnTranspose column_;
};

}  // namespace

template <class Lines>
std::unique_ptr<LineSolver<Lines>> make_gpu_line_solver(const Communicator& comm, const Decomposition& decomposition,
                                                        const LineBoxes& boxes, const LinePlan& plan,
                                                        Exchange& exchange) {
  if (plan.strategy == LineStrategy::tiles) return std::make_unique<Tiles<Lines>>(boxes, plan);
  return std::make_unique<TwoPassesOnChip<Lines>>(comm, decomposition, boxes, plan, exchange);
}

template std::unique_ptr<LineSolver<ShiftedLines>> make_gpu_line_solver(const Communicator&, const Decomposition&,
                                                                        const LineBoxes&, const LinePlan&, Exchange&);
template std::unique_ptr<LineSolver<TableLines>> make_gpu_line_solver(const Communicator&, const Decomposition&,
                                                                      const LineBoxes&, const LinePlan&, Exchange&);

}  // namespace sluice
