#pragma once
// The loops of parallel_for.hpp on an NVIDIA GPU; their sums are in sums_cuda.hpp.
#include <cstddef>
#include <deque>
#include <type_traits>

#include "core/device/buffer.hpp"
#include "core/device/cell.hpp"
#include "core/device/check_cuda.hpp"
#include "core/device/lanes.hpp"
#include "core/device/launch_cuda.hpp"
#include "core/device/small_copies_cuda.hpp"
#include "core/device/together.hpp"
#include "core/device/tuning.hpp"
#include "core/support/box3.hpp"
#include "core/support/real.hpp"

namespace sluice::cuda {

using device::warp;
using tuning::loops::block_x;
using tuning::loops::block_y;
static_assert((block_y & (block_y - 1)) == 0);
using Word = unsigned long long;  ///< the type of atomicAdd and atomicMax; also for signed sums (two's complement)

/// The threads of a loop, one for each index. Blocks are issued plane by plane for a chunk of a few rows (block.z),
/// so that a stencil finds the planes above and below in cache. block.x counts a chunk's blocks in one plane,
/// `blocks_in_row` per row of blocks. Where a box has only one or two rows, a block has several planes.
struct IndexBlocks {
  int x0, x1, y0, y1, z0, z1;
  int blocks_in_row, rows_in_chunk;
  int log_rows;  ///< of a plane in a block: a power of two

  int planes_in_block() const { return block_y >> log_rows; }

  /// The n-th of a thread's `of_thread` indices.
  template <class AnyCell = Cell, int of_thread = 1>
  __device__ AnyCell index(const uint3& block, int n = 0) const {
    const int row_of_blocks = static_cast<int>(block.x) / blocks_in_row;
    const int in_row = static_cast<int>(block.x) - row_of_blocks * blocks_in_row;
    const int i = x0 + (in_row * of_thread + n) * block_x + static_cast<int>(threadIdx.x);
    const int row = static_cast<int>(threadIdx.y) & ((1 << log_rows) - 1);
    const int plane = static_cast<int>(threadIdx.y) >> log_rows;
    const int j = y0 + static_cast<int>(block.z) * rows_in_chunk + row_of_blocks * block_y + row;
    const int k = z0 + static_cast<int>(block.y) * (block_y >> log_rows) + plane;
    return cell_in_row<AnyCell>(i, j, k, x1);
  }
  template <class AnyCell>
  __device__ bool holds(const AnyCell& c) const {
    return c.i < x1 && c.j < y1 && c.k < z1;
  }
};

template <class Kernel>
struct ForEachIndex {
  static constexpr Bounds bounds{block_x * block_y};
  static constexpr std::size_t most_together = cuda::most_together<Kernel>();

  IndexBlocks blocks;
  Kernel kernel;

  __device__ void operator()(const uint3& block) const {
    const auto c = blocks.index<CellOf<Kernel>>(block);
    if (!blocks.holds(c)) return;
    if constexpr (takes_cell<Kernel>) {
      kernel(c);
    } else {
      kernel(c.i, c.j, c.k);
    }
  }
};

/// Adapts a kernel that only returns values to one that computes and writes.
template <class Kernel>
struct ValueAlone {
  using CellType = CellOf<Kernel>;
  Kernel kernel;
  __device__ double compute(const CellType& c) const {
    if constexpr (takes_cell<Kernel>) {
      return kernel(c);
    } else {
      double value[1];
      kernel(c, value);
      return value[0];
    }
  }
  __device__ double write(const CellType& /*c*/, double value) const { return value; }
};

/// Cells per thread in a search for the largest value; a thread reads all of them before it writes. In single precision
/// one cell's reads do not saturate memory.
inline constexpr int cells_of_thread = sizeof(real) == sizeof(double) ? 1 : 2;

/// A value for a search for the largest: the bits of a non-negative double, which are ordered like integers, with NaN
/// above all others. Values below 0 count as 0; infinite ones as NaN.
__device__ inline Word ordered_bits(double value) {
  const double trapped = value * 0 == 0 ? (value > 0 ? value : 0.0) : __longlong_as_double(0x7ff8000000000000LL);
  return static_cast<Word>(__double_as_longlong(trapped));
}
__device__ inline Word larger(Word a, Word b) {
  return b > a ? b : a;
}

/// *largest_bits = the largest of these and of all threads' bits. All lanes of a warp call it.
__device__ inline void keep_largest(Word bits, Word* largest_bits) {
  // Most warps see that theirs is not the largest without a warp reduction and an atomic operation. The value they
  // compare with may be stale, from the multiprocessor's own cache: if all warps read the one address in memory, they
  // would queue.
  const Word known = __ldca(largest_bits);
  if (!device::in_any_lane(bits > known)) return;
  for (int offset = warp / 2; offset > 0; offset /= 2) bits = larger(bits, device::of_lane_above(bits, offset));
  if (threadIdx.x % warp == 0) atomicMax(largest_bits, bits);
}

/// Finds the largest value over all cells.
template <class Kernel>
struct MaxOfCells {
  static constexpr Bounds bounds{block_x * block_y};

  IndexBlocks blocks;
  Kernel kernel;
  Word* largest_bits;

  __device__ void operator()(const uint3& block) const {
    using AnyCell = CellOf<Kernel>;
    decltype(kernel.compute(blocks.index<AnyCell>(block))) computed[cells_of_thread];
    SLUICE_UNROLL
    for (int n = 0; n < cells_of_thread; ++n) {
      const auto c = blocks.index<AnyCell, cells_of_thread>(block, n);
      if (blocks.holds(c)) computed[n] = kernel.compute(c);
    }
    Word bits = 0;
    SLUICE_UNROLL
    for (int n = 0; n < cells_of_thread; ++n) {
      const auto c = blocks.index<AnyCell, cells_of_thread>(block, n);
      if (!blocks.holds(c)) continue;
      bits = larger(bits, ordered_bits(kernel.write(c, computed[n])));
    }
    keep_largest(bits, largest_bits);
  }
};

struct IndexLaunch {
  IndexBlocks blocks;
  dim3 grid;
};

inline IndexLaunch lay_out(const Box3& box, int of_thread = 1) {
  constexpr int max_rows_of_blocks = 8;  // in a chunk
  const int blocks_in_row = (box.nx() + block_x * of_thread - 1) / (block_x * of_thread);
  const int rows_of_blocks = (box.ny() + block_y - 1) / block_y;
  const int in_chunk = rows_of_blocks < max_rows_of_blocks ? rows_of_blocks : max_rows_of_blocks;
  int log_rows = 0;
  while ((1 << log_rows) < block_y && (1 << log_rows) < box.ny()) ++log_rows;
  const IndexBlocks blocks{static_cast<int>(box.lo[0]),
                           static_cast<int>(box.hi[0]),
                           static_cast<int>(box.lo[1]),
                           static_cast<int>(box.hi[1]),
                           static_cast<int>(box.lo[2]),
                           static_cast<int>(box.hi[2]),
                           blocks_in_row,
                           in_chunk * block_y,
                           log_rows};
  const int planes = blocks.planes_in_block();
  return {blocks,
          dim3(blocks_in_row * in_chunk, (box.nz() + planes - 1) / planes, (rows_of_blocks + in_chunk - 1) / in_chunk)};
}

template <class Kernel>
void run_loop(const char* name, const Box3& box, const Kernel& kernel) {
  const IndexLaunch to = lay_out(box);
  launch(name, {to.grid, dim3(block_x, block_y)}, ForEachIndex<Kernel>{to.blocks, kernel});
}

/// Sets words in device memory to 0, in order with the loops.
inline void zero(Word* to, std::size_t words) {
  if (device::queue_of_task() != nullptr) {
    set_to_zero(to, words);
  } else {
    check_cuda(cudaMemsetAsync(to, 0, words * sizeof(Word)), "cudaMemsetAsync");
  }
}

/// Scratch on this rank's GPU for the results of a reduction: `zeroed` words, then `more`. Kept between calls, so that
/// only the first step allocates it; each task of run_together() has its own.
inline Word* result_scratch(std::size_t zeroed, std::size_t more = 0) {
  // A deque, because the release of an array gives other tasks their turns, which add theirs. Never destroyed: the CUDA
  // context may be gone by then.
  static auto* of_tasks = new std::deque<Buffer<Word>>;
  const std::size_t task = device::task_number();
  if (of_tasks->size() <= task) of_tasks->resize(task + 1);
  Buffer<Word>& scratch = (*of_tasks)[task];
  if (scratch.size() < zeroed + more) scratch = Buffer<Word>(zeroed + more);
  if (zeroed > 0) zero(scratch.data(), zeroed);
  return scratch.data();
}

/// Issues the search for the largest value. Returns its address in device memory, valid until the next reduction.
template <class Kernel>
const Word* issue_max(const char* name, const Box3& box, const Kernel& kernel) {
  Word* largest = result_scratch(1);
  if (box.empty()) return largest;
  const IndexLaunch to = lay_out(box, cells_of_thread);
  launch(name, {to.grid, dim3(block_x, block_y)}, MaxOfCells<Kernel>{to.blocks, kernel, largest});
  return largest;
}

template <class Kernel>
double max_of(const char* name, const Box3& box, const Kernel& kernel) {
  double value = 0;
  device::copy(&value, issue_max(name, box, ValueAlone<Kernel>{kernel}), sizeof(value));
  return value;
}

}  // namespace sluice::cuda
