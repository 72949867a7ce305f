#pragma once
// The loops of parallel_for.hpp on an NVIDIA GPU.
#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/device/buffer.hpp"
#include "core/device/cell.hpp"
#include "core/device/check_cuda.hpp"
#include "core/device/launch_cuda.hpp"
#include "core/device/small_copies_cuda.hpp"
#include "core/device/together.hpp"
#include "core/device/tuning.hpp"
#include "core/support/box3.hpp"
#include "core/support/exact_sum.hpp"
#include "core/support/real.hpp"

namespace sluice::cuda {

using device::warp;
using tuning::loops::block_x;
using tuning::loops::block_y;
using tuning::loops::cells_of_lane;
using tuning::loops::warps_per_block;
using Word = unsigned long long;  ///< the type of atomicAdd and atomicMax; also for signed sums (two's complement)

/// The threads of a loop, one for each index. Blocks are issued plane by plane for a chunk of a few rows (block.z),
/// so that a stencil finds the planes above and below in cache. block.x counts a chunk's blocks in one plane,
/// `blocks_in_row` per row of blocks.
struct IndexBlocks {
  int x0, x1, y0, y1, z0;
  int blocks_in_row, rows_in_chunk;

  /// The n-th of a thread's `of_thread` indices.
  template <class AnyCell = Cell, int of_thread = 1>
  __device__ AnyCell index(const uint3& block, int n = 0) const {
    const int row_of_blocks = static_cast<int>(block.x) / blocks_in_row;
    const int in_row = static_cast<int>(block.x) - row_of_blocks * blocks_in_row;
    const int i = x0 + (in_row * of_thread + n) * block_x + static_cast<int>(threadIdx.x);
    const int j =
        y0 + static_cast<int>(block.z) * rows_in_chunk + row_of_blocks * block_y + static_cast<int>(threadIdx.y);
    const int k = z0 + static_cast<int>(block.y);
    return cell_in_row<AnyCell>(i, j, k, x1);
  }
  template <class AnyCell>
  __device__ bool holds(const AnyCell& c) const {
    return c.i < x1 && c.j < y1;
  }
};

template <class Kernel>
struct ForEachIndex {
  static constexpr Bounds bounds{block_x * block_y};

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

/// Neighbouring cells of a row that a warp sums. Each lane adds its own cells first, and reads all of them before it
/// writes.
inline constexpr int cells_of_warp = cells_of_lane * warp;
inline constexpr int warps_of_block = block_x * block_y / warp;

/// Runs over all cells, one row of a block per warp. The sum over a warp's cells goes to sums[k][j][i / cells_of_warp].
/// Launch bounds limit registers to one batch of loads, since these loops are memory-bound.
template <class Kernel>
struct SumWarps {
  static constexpr Bounds bounds{block_x * block_y, 5};

  int nx, y0, ny, z0, warps_in_row, rows_in_chunk;
  Kernel kernel;
  double* sums;

  __device__ void operator()(const uint3& block) const {
    const int lane = static_cast<int>(threadIdx.x) % warp;
    const int row_of_blocks = static_cast<int>(block.x) / warps_in_row;
    const int in_row = static_cast<int>(block.x) - row_of_blocks * warps_in_row;
    const int j = static_cast<int>(block.z) * rows_in_chunk + row_of_blocks * warps_of_block +
                  static_cast<int>(threadIdx.x) / warp;
    const int k = static_cast<int>(block.y);
    if (j >= ny) return;
    const int first = in_row * cells_of_warp + lane;
    const auto cell = [&](int n) {
      const int i = first + n * warp < nx ? first + n * warp : nx - 1;
      return cell_in_row<CellOf<Kernel>>(i, y0 + j, z0 + k, nx);
    };
    decltype(kernel.compute(cell(0))) computed[cells_of_lane];
    SLUICE_UNROLL
    for (int n = 0; n < cells_of_lane; ++n) computed[n] = kernel.compute(cell(n));
    double sum = 0;
    SLUICE_UNROLL
    for (int n = 0; n < cells_of_lane; ++n) {
      if (first + n * warp < nx) sum += kernel.write(cell(n), computed[n]);
    }
    __syncwarp();
    for (int offset = warp / 2; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffU, sum, offset);
    if (lane == 0) sums[(static_cast<std::size_t>(k) * ny + j) * warps_in_row + in_row] = sum;
  }
};

/// Reads sums of parts of rows, like those of SumWarps.
struct PartialSum {
  const double* sums;
  int in_row, ny;
  __device__ void operator()(const Cell& c, double (&value)[1]) const {
    value[0] = sums[(static_cast<std::size_t>(c.k) * ny + c.j) * in_row + c.i];
  }
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
  if (!__any_sync(0xffffffffU, bits > known)) return;
  for (int offset = warp / 2; offset > 0; offset /= 2) bits = larger(bits, __shfl_down_sync(0xffffffffU, bits, offset));
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

/// Replaces the values of each lane by sums over the warp. Returns the sum of value number lane / (32 / M), where M is
/// N rounded up to a power of two. A lane gives away half of its values at each step, so that all N sums take about as
/// many exchanges as there are values. `half`: those that it keeps, in the lanes whose number has the bit `mask`.
template <int half = warp / 2, int mask = warp / 2, int N>
__device__ double sum_over_warp(double (&values)[N], int lane) {
  static_assert(N <= warp, "a GPU sums at most 32 quantities at once: split the table of profiles");
  if constexpr (half >= N && half > 0) {
    return sum_over_warp<half / 2, mask>(values, lane);
  } else if constexpr (half > 0) {
    SLUICE_UNROLL
    for (int n = 0; n < half; ++n) {
      const bool is_upper = (lane & mask) != 0;
      const double upper = n + half < N ? values[n + half] : 0.0;
      const double given = is_upper ? values[n] : upper;
      values[n] = (is_upper ? upper : values[n]) + __shfl_xor_sync(0xffffffffU, given, mask);
    }
    return sum_over_warp<half / 2, mask / 2>(values, lane);
  } else {
    SLUICE_UNROLL
    for (int bit = mask; bit > 0; bit /= 2) values[0] += __shfl_xor_sync(0xffffffffU, values[0], bit);
    return values[0];
  }
}

/// Lanes that hold the same sum after sum_over_warp.
constexpr int lanes_per_sum(int count) {
  int lanes = warp;
  for (int sums = 1; sums < count; sums *= 2) lanes /= 2;
  return lanes;
}

/// The blocks of reductions over planes, in the same order. A warp handles a segment of a row.
struct RowBlocks {
  int nx, y0, ny, z0;
  int segment;          ///< cells
  int segments;         ///< in a row
  int blocks_in_chunk;  ///< of rows

  /// Calls body(first_x, end_x, j, k) for the segments of this thread's warp, `rows` rows per block.
  template <int rows, class Body>
  __device__ void for_segments(const uint3& block, const Body& body) const {
    const int in_chunk = static_cast<int>(block.x) / segments;
    const int first_x = (static_cast<int>(block.x) - in_chunk * segments) * segment;
    const int end_x = first_x + segment < nx ? first_x + segment : nx;
    const int first_y = (static_cast<int>(block.z) * blocks_in_chunk + in_chunk) * rows;
    const int end_y = first_y + rows < ny ? first_y + rows : ny;
    for (int j = first_y + static_cast<int>(threadIdx.y); j < end_y; j += warps_per_block)
      body(first_x, end_x, y0 + j, z0 + static_cast<int>(block.y));
  }
};

/// Neighbouring groups of 32 cells that a warp sums together where it can: their loads share addresses and are in
/// flight at the same time.
inline constexpr int summed_at_once = 2;

/// Sums over segments of rows. Lane l of a warp adds the cells l, l + 32, ..., an order that depends on nx alone. Exact
/// sums, first of the block, then of the plane, collect the warps' sums, so that their order does not matter.
template <int N, int rows, class Kernel>
struct SumPlanes {
  static constexpr Bounds bounds{warp * warps_per_block, 2};

  RowBlocks blocks;
  Kernel kernel;
  Word* sums;

  __device__ void operator()(const uint3& block) const {
    __shared__ Word of_block[N * ExactSum::words];
    const int lane = static_cast<int>(threadIdx.x);
    const int thread = static_cast<int>(threadIdx.y) * warp + lane;
    for (int n = thread; n < N * ExactSum::words; n += warp * warps_per_block) of_block[n] = 0;
    __syncthreads();
    blocks.for_segments<rows>(block, [&](int first_x, int end_x, int j, int k) {
      double of_lane[N] = {};
      const auto add = [&](const CellOf<Kernel>& c) {
        double values[N];
        kernel(c, values);
        SLUICE_UNROLL
        for (int n = 0; n < N; ++n) of_lane[n] += values[n];
      };
      // Cells away from the ends of the row have their neighbours at fixed distances in memory.
      constexpr int reach = CellOf<Kernel>::reach;
      constexpr int group = summed_at_once * warp;
      for (int first = first_x; first < end_x;) {
        if (first >= reach && first + group + reach <= blocks.nx && first + group <= end_x) {
          SLUICE_UNROLL
          for (int n = 0; n < summed_at_once; ++n) add(inner_cell<CellOf<Kernel>>(first + n * warp + lane, j, k));
          first += group;
        } else {
          if (first + lane < end_x) add(cell_in_row<CellOf<Kernel>>(first + lane, j, k, blocks.nx));
          first += warp;
        }
      }
      constexpr int lanes = lanes_per_sum(N);
      const double sum = sum_over_warp(of_lane, lane);
      if (lane % lanes != 0 || lane / lanes >= N) return;
      const ExactTerm term = ExactSum::decompose(sum);
      Word* exact = of_block + lane / lanes * ExactSum::words;
      SLUICE_UNROLL
      for (int digit = 0; digit < 3; ++digit)
        atomicAdd(exact + term.digit + digit, static_cast<Word>(term.part[digit]));
      if (!term.representable) atomicAdd(exact + ExactSum::digits, Word{1});
    });
    __syncthreads();
    Word* of_plane = sums + static_cast<std::size_t>(block.y) * N * ExactSum::words;
    for (int n = thread; n < N * ExactSum::words; n += warp * warps_per_block) {
      if (of_block[n] != 0) atomicAdd(of_plane + n, of_block[n]);
    }
  }
};

/// Cells that a lane of CountCells reads before it counts them.
inline constexpr int counted_at_once = 4;

/// Counts the cells of segments of rows: first into the bins of the block, then into the bins of the plane.
template <int bins, int rows, class Kernel>
struct CountCells {
  static constexpr Bounds bounds{warp * warps_per_block};

  RowBlocks blocks;
  Kernel kernel;
  Word* counts;

  __device__ void operator()(const uint3& block) const {
    __shared__ unsigned of_block[bins];
    const int thread = static_cast<int>(threadIdx.y) * warp + static_cast<int>(threadIdx.x);
    for (int n = thread; n < bins; n += warp * warps_per_block) of_block[n] = 0;
    __syncthreads();
    blocks.for_segments<rows>(block, [&](int first_x, int end_x, int j, int k) {
      const int first = first_x + static_cast<int>(threadIdx.x);
      int bin[counted_at_once];
      SLUICE_UNROLL
      for (int n = 0; n < counted_at_once; ++n) {
        const int i = first + n * warp;
        bin[n] = i < end_x ? kernel(cell_in_row<CellOf<Kernel>>(i, j, k, blocks.nx)) : -1;
      }
      SLUICE_UNROLL
      for (int n = 0; n < counted_at_once; ++n) {
        if (bin[n] >= 0) atomicAdd(of_block + bin[n], 1U);
      }
    });
    __syncthreads();
    Word* of_plane = counts + static_cast<std::size_t>(block.y) * bins;
    for (int n = thread; n < bins; n += warp * warps_per_block) {
      if (of_block[n] != 0) atomicAdd(of_plane + n, Word{of_block[n]});
    }
  }
};

/// The terms of a thread of a warp whose threads add to the same sum. Those near the first term of the warp are added
/// in registers and then with shuffles, because atomic operations on the same address queue.
class TermsOfThread {
 public:
  /// All threads of the warp call it.
  __device__ explicit TermsOfThread(const ExactTerm& first) : base_(__shfl_sync(all_lanes, first.digit, 0)) {
    if (base_ > ExactSum::digits - kept) base_ = ExactSum::digits - kept;
  }

  __device__ void add(const ExactTerm& term, Word* sum) {
    const int place = term.digit - base_;
    if (!term.representable) atomicAdd(sum + ExactSum::digits, Word{1});
    SLUICE_UNROLL
    for (int n = 0; n < kept; ++n) {
      SLUICE_UNROLL
      for (int part = 0; part < 3; ++part) part_[n] += place + part == n ? static_cast<Word>(term.part[part]) : 0;
    }
    for (int part = 0; part < 3; ++part) {  // what lies elsewhere
      if ((place + part < 0 || place + part >= kept) && term.part[part] != 0)
        atomicAdd(sum + term.digit + part, static_cast<Word>(term.part[part]));
    }
  }

  /// All threads of the warp call it.
  __device__ void finish(Word* sum) {
    SLUICE_UNROLL
    for (int n = 0; n < kept; ++n) {
      for (int offset = warp / 2; offset > 0; offset /= 2) part_[n] += __shfl_down_sync(all_lanes, part_[n], offset);
      if (threadIdx.x % warp == 0 && part_[n] != 0) atomicAdd(sum + base_ + n, part_[n]);
    }
  }

 private:
  static constexpr unsigned all_lanes = 0xffffffffU;
  static constexpr int kept = 4;  ///< digits

  int base_;
  Word part_[kept] = {};
};

/// total = the exact sum of `count` parts, or total += that of each of several thread blocks.
struct AddParts {
  static constexpr int threads = 1024;
  static constexpr Bounds bounds{threads};

  const double* parts;
  int count;
  Word* total;

  /// Thread blocks for so many parts.
  static int blocks_for(std::int64_t count) {
    constexpr std::int64_t of_block = 4 * threads;
    return static_cast<int>(std::clamp<std::int64_t>(count / of_block, 1, 32));
  }

  __device__ void operator()(const uint3& block) const {
    __shared__ Word of_block[ExactSum::words];
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < ExactSum::words) of_block[thread] = 0;
    __syncthreads();
    const int stride = static_cast<int>(gridDim.x) * threads;
    const int first = static_cast<int>(block.x) * threads + thread;
    const auto term = [&](int n) { return ExactSum::decompose(n < count ? parts[n] : 0.0); };
    TermsOfThread terms(term(first));
#pragma unroll 4
    for (int n = first; n < count; n += stride) terms.add(term(n), of_block);
    terms.finish(of_block);
    __syncthreads();
    if (thread >= ExactSum::words) return;
    if (gridDim.x == 1) {
      total[thread] = of_block[thread];
    } else if (of_block[thread] != 0) {
      atomicAdd(total + thread, of_block[thread]);
    }
  }
};

/// total[n] = sum over planes of sums[plane][n], one warp for each n.
struct AddPlanes {
  static constexpr Bounds bounds{warp * ExactSum::words};

  const Word* sums;
  int planes;
  Word* total;

  __device__ void operator()(const uint3& /*block*/) const {
    const int n = static_cast<int>(threadIdx.y);
    Word sum = 0;
    for (int k = static_cast<int>(threadIdx.x); k < planes; k += warp)
      sum += sums[static_cast<std::size_t>(k) * ExactSum::words + n];
    for (int offset = warp / 2; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffU, sum, offset);
    if (threadIdx.x == 0) total[n] = sum;
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
  return {{static_cast<int>(box.lo[0]), static_cast<int>(box.hi[0]), static_cast<int>(box.lo[1]),
           static_cast<int>(box.hi[1]), static_cast<int>(box.lo[2]), blocks_in_row, in_chunk * block_y},
          dim3(blocks_in_row * in_chunk, box.nz(), (rows_of_blocks + in_chunk - 1) / in_chunk)};
}

template <class Kernel>
void run_loop(const char* name, const Box3& box, const Kernel& kernel) {
  const IndexLaunch to = lay_out(box);
  launch(name, {to.grid, dim3(block_x, block_y)}, ForEachIndex<Kernel>{to.blocks, kernel});
}

/// Scratch on this rank's GPU for the results of a reduction: `zeroed` words, then `more`. Kept between calls, so that
/// only the first step allocates it; each task of run_together() has its own.
inline Word* result_scratch(std::size_t zeroed, std::size_t more = 0) {
  static auto* of_tasks = new std::vector<Buffer<Word>>;  // never destroyed: the CUDA context may be gone by then
  const std::size_t task = device::task_number();
  if (of_tasks->size() <= task) of_tasks->resize(task + 1);
  Buffer<Word>& scratch = (*of_tasks)[task];
  if (scratch.size() < zeroed + more) scratch = Buffer<Word>(zeroed + more);
  if (zeroed == 0) return scratch.data();
  if (device::queue_of_task() != nullptr) {
    set_to_zero(scratch.data(), zeroed);
  } else {
    check_cuda(cudaMemsetAsync(scratch.data(), 0, zeroed * sizeof(Word)), "cudaMemsetAsync");
  }
  return scratch.data();
}

struct RowLaunch {
  RowBlocks blocks;
  dim3 grid;
};

inline RowLaunch lay_out_rows(const Box3& box, int rows_in_block, int segment) {
  constexpr int max_rows_in_chunk = 32;
  const int row_blocks = (box.ny() + rows_in_block - 1) / rows_in_block;
  const int max_in_chunk = max_rows_in_chunk / rows_in_block;
  const int in_chunk = row_blocks < max_in_chunk ? row_blocks : max_in_chunk;
  const int segments = (box.nx() + segment - 1) / segment;
  return {{box.nx(), static_cast<int>(box.lo[1]), box.ny(), static_cast<int>(box.lo[2]), segment, segments, in_chunk},
          dim3(segments * in_chunk, box.nz(), (row_blocks + in_chunk - 1) / in_chunk)};
}

/// Launches the kernel that sums N quantities over each plane into sums[plane][quantity], which must be zero before.
template <int N, class Kernel>
void issue_plane_sums(const char* name, const Box3& box, const Kernel& kernel, Word* sums) {
  static_assert(sizeof(ExactSum) == ExactSum::words * sizeof(Word));
  if (box.empty()) return;
  constexpr int rows = 4 * warps_per_block;  // per block: fewer atomic operations
  constexpr int segment = 16 * warp;         // long enough to hide the sum over the warp
  const RowLaunch to = lay_out_rows(box, rows, segment);
  launch(name, {to.grid, dim3(warp, warps_per_block)}, SumPlanes<N, rows, Kernel>{to.blocks, kernel, sums});
}

/// Launches the kernel that counts the cells of each plane and adds the counts to counts[plane][bin].
template <int bins, class Kernel>
void issue_counts(const char* name, const Box3& box, const Kernel& kernel, std::int64_t* counts) {
  static_assert(sizeof(std::int64_t) == sizeof(Word));
  constexpr int rows = 4 * warps_per_block;  // per block: fewer atomic operations
  const RowLaunch to = lay_out_rows(box, rows, counted_at_once * warp);
  launch(name, {to.grid, dim3(warp, warps_per_block)},
         CountCells<bins, rows, Kernel>{to.blocks, kernel, reinterpret_cast<Word*>(counts)});
}

template <int N, class Kernel>
void sum_planes_of(const char* name, const Box3& box, const Kernel& kernel, ExactSum* results) {
  const std::size_t size = static_cast<std::size_t>(box.nz()) * N * ExactSum::words;
  Word* sums = result_scratch(size);
  issue_plane_sums<N>(name, box, kernel, sums);
  device::copy(results, sums, size * sizeof(Word));
}

/// Scratch for a sum over a box: the kernel that runs over the cells writes `in_row` partial sums of each row to
/// parts[k][j][n], and add_parts() adds these exactly.
struct PartialSums {
  Word* planes;  ///< only for several parts in a row
  Word* total;
  double* parts;
  int in_row;
};

inline PartialSums scratch_for_sums(const Box3& box, int in_row) {
  const std::size_t rows = static_cast<std::size_t>(box.ny()) * box.nz();
  if (in_row == 1) {
    constexpr auto words = static_cast<std::size_t>(ExactSum::words);
    const bool zeroed = box.empty() || AddParts::blocks_for(static_cast<std::int64_t>(rows)) > 1;
    Word* total = result_scratch(zeroed ? words : 0, (zeroed ? 0 : words) + rows);
    return {nullptr, total, reinterpret_cast<double*>(total + words), in_row};
  }
  const std::size_t planes = static_cast<std::size_t>(box.nz()) * ExactSum::words;
  Word* scratch = result_scratch(planes + ExactSum::words, rows * in_row);
  Word* total = scratch + planes;
  return {scratch, total, reinterpret_cast<double*>(total + ExactSum::words), in_row};
}

/// Issues the sum of the parts. Returns its address in device memory, valid until the next reduction.
inline const Word* add_parts(const char* name, const Box3& box, const PartialSums& sums) {
  if (box.empty()) return sums.total;
  if (sums.in_row == 1) {
    const int rows = box.ny() * box.nz();
    launch(name, {dim3(static_cast<unsigned>(AddParts::blocks_for(rows))), dim3(AddParts::threads)},
           AddParts{sums.parts, rows, sums.total});
    return sums.total;
  }
  issue_plane_sums<1>(name, box_of(sums.in_row, box.ny(), box.nz()), PartialSum{sums.parts, sums.in_row, box.ny()},
                      sums.planes);
  launch(name, {dim3(1), dim3(warp, ExactSum::words)}, AddPlanes{sums.planes, box.nz(), sums.total});
  return sums.total;
}

/// Issues the sum over the box. Returns its address as add_parts() does. The parts are the sums of warps.
template <class Kernel>
const Word* issue_sum(const char* name, const Box3& box, const Kernel& kernel) {
  const int warps_in_row = (box.nx() + cells_of_warp - 1) / cells_of_warp;
  const PartialSums sums = scratch_for_sums(box, warps_in_row);
  if (!box.empty()) {
    const int rows_of_blocks = (box.ny() + warps_of_block - 1) / warps_of_block;
    const int in_chunk = rows_of_blocks < 4 ? rows_of_blocks : 4;
    const dim3 blocks(warps_in_row * in_chunk, box.nz(), (rows_of_blocks + in_chunk - 1) / in_chunk);
    launch(name, {blocks, dim3(block_x * block_y)},
           SumWarps<Kernel>{box.nx(), static_cast<int>(box.lo[1]), box.ny(), static_cast<int>(box.lo[2]), warps_in_row,
                            in_chunk * warps_of_block, kernel, sums.parts});
  }
  return add_parts(name, box, sums);
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
