#pragma once
// The sums and counts of parallel_for.hpp on an NVIDIA GPU.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/device/cell.hpp"
#include "core/device/lanes.hpp"
#include "core/device/launch_cuda.hpp"
#include "core/device/memory.hpp"
#include "core/device/parallel_for_cuda.hpp"
#include "core/device/tuning.hpp"
#include "core/support/box3.hpp"
#include "core/support/exact_sum.hpp"
#include "core/support/real.hpp"

namespace sluice::cuda {

using tuning::loops::cells_of_lane;
using tuning::loops::warps_per_block;

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
    device::synchronize_lanes();
    for (int offset = warp / 2; offset > 0; offset /= 2) sum += device::of_lane_above(sum, offset);
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
      values[n] = (is_upper ? upper : values[n]) + device::of_lane_xor(given, mask);
    }
    return sum_over_warp<half / 2, mask / 2>(values, lane);
  } else {
    SLUICE_UNROLL
    for (int bit = mask; bit > 0; bit /= 2) values[0] += device::of_lane_xor(values[0], bit);
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

/// The terms of a thread of a block whose threads add to the same sum. Those near one of the terms are added in
/// registers and then with shuffles, because atomic operations on the same address queue.
class TermsOfThread {
 public:
  static constexpr int kept = 4;  ///< digits
  /// In shared memory.
  struct OfWarps {
    Word part[kept][warp];
  };

  /// `near`: the same for all threads of the block.
  __device__ explicit TermsOfThread(const ExactTerm& near) : base_(near.digit) {
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

  /// All threads of the block, of 32 warps, call it.
  __device__ void finish(OfWarps& of_warps, Word* sum) {
    const int lane = static_cast<int>(threadIdx.x) % warp;
    const int own_warp = static_cast<int>(threadIdx.x) / warp;
    SLUICE_UNROLL
    for (int n = 0; n < kept; ++n) {
      const Word part = of_warp(part_[n]);
      if (lane == 0) of_warps.part[n][own_warp] = part;
    }
    __syncthreads();
    if (own_warp >= kept) return;
    const Word part = of_warp(of_warps.part[own_warp][lane]);
    if (lane == 0) atomicAdd(sum + base_ + own_warp, part);
  }

 private:
  /// The sum over a warp, in its first lane.
  __device__ static Word of_warp(Word part) {
    for (int offset = warp / 2; offset > 0; offset /= 2) part += device::of_lane_above(part, offset);
    return part;
  }

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
    __shared__ TermsOfThread::OfWarps of_warps;
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < ExactSum::words) of_block[thread] = 0;
    const int stride = static_cast<int>(gridDim.x) * threads;
    const int first = static_cast<int>(block.x) * threads + thread;
    const auto term = [&](int n) { return ExactSum::decompose(n < count ? parts[n] : 0.0); };
    TermsOfThread terms(term(static_cast<int>(block.x) * threads));  // the same for all threads
    __syncthreads();
#pragma unroll 4
    for (int n = first; n < count; n += stride) terms.add(term(n), of_block);
    terms.finish(of_warps, of_block);
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
    for (int offset = warp / 2; offset > 0; offset /= 2) sum += device::of_lane_above(sum, offset);
    if (threadIdx.x == 0) total[n] = sum;
  }
};

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

/// `total`: where the sum goes, in device memory; null: into the scratch.
inline PartialSums scratch_for_sums(const Box3& box, int in_row, ExactSum* total) {
  constexpr auto words = static_cast<std::size_t>(ExactSum::words);
  const std::size_t rows = static_cast<std::size_t>(box.ny()) * box.nz();
  const std::size_t planes = in_row == 1 ? 0 : static_cast<std::size_t>(box.nz()) * words;
  const bool adds = box.empty() || in_row > 1 || AddParts::blocks_for(static_cast<std::int64_t>(rows)) > 1;
  const std::size_t own = total == nullptr ? words : 0;
  const std::size_t zeroed = planes + (adds ? own : 0);
  Word* const scratch = result_scratch(zeroed, planes + own + rows * in_row - zeroed);
  Word* const sum = total == nullptr ? scratch + planes : reinterpret_cast<Word*>(total);
  if (adds && total != nullptr) zero(sum, words);
  return {scratch, sum, reinterpret_cast<double*>(scratch + planes + own), in_row};
}

/// Issues the sum of the parts. Returns its address in device memory: in scratch, valid until the next reduction.
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

/// Issues the sum over the box; `total` as in scratch_for_sums(). Returns its address as add_parts() does. The parts
/// are the sums of warps.
template <class Kernel>
const Word* issue_sum(const char* name, const Box3& box, const Kernel& kernel, ExactSum* total = nullptr) {
  const int warps_in_row = (box.nx() + cells_of_warp - 1) / cells_of_warp;
  const PartialSums sums = scratch_for_sums(box, warps_in_row, total);
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

}  // namespace sluice::cuda
