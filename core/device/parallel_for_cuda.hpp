#pragma once
// The loops of parallel_for.hpp on an NVIDIA GPU.
#include <type_traits>
#include <vector>

#include "core/decomp/box3.hpp"
#include "core/device/buffer.hpp"
#include "core/device/check_cuda.hpp"
#include "core/support/exact_sum.hpp"

namespace sluice {
struct Cell;
}

namespace sluice::cuda {

inline constexpr int warp = 32;
inline constexpr int warps_per_block = 8;
using Word =
    unsigned long long;  ///< what atomicAdd and atomicMax take; two's complement makes it serve for signed sums

inline constexpr int block_x = 64;
inline constexpr int block_y = 4;

/// Blocks are issued plane after plane for a chunk of a few rows (blockIdx.z), so that a stencil finds the planes above
/// and below in the cache. blockIdx.x counts the blocks of a chunk in one plane, `blocks_in_row` to a row of blocks.
template <class Kernel, class CellType>
__global__ void __launch_bounds__(block_x* block_y)
    for_each_index(int x0, int x1, int y0, int y1, int z0, int blocks_in_row, int rows_in_chunk, Kernel kernel) {
  const int row_of_blocks = static_cast<int>(blockIdx.x) / blocks_in_row;
  const int i =
      x0 + (static_cast<int>(blockIdx.x) - row_of_blocks * blocks_in_row) * block_x + static_cast<int>(threadIdx.x);
  const int j =
      y0 + static_cast<int>(blockIdx.z) * rows_in_chunk + row_of_blocks * block_y + static_cast<int>(threadIdx.y);
  const int k = z0 + static_cast<int>(blockIdx.y);
  if (i >= x1 || j >= y1) return;
  if constexpr (std::is_invocable_v<const Kernel&, CellType>) {
    kernel(CellType{i, j, k, i == 0 ? x1 - 1 : i - 1, i + 1 == x1 ? 0 : i + 1});
  } else {
    kernel(i, j, k);
  }
}

/// Rows of a reduction that one block of threads takes, and the blocks of rows that go up through all planes together,
/// for the reason given above.
inline constexpr int rows_per_block = 4 * warps_per_block;
inline constexpr int row_blocks_in_chunk = 4;

/// Rows of one plane, `rows_per_block` to a block, one warp a row; lane l adds the cells l, l + 32, ...: an order that
/// depends on nx alone. Row sums meet in an exact sum, first of the block, then of the plane, so that their order does
/// not matter.
template <int N, class Kernel, class CellType>
__global__ void __launch_bounds__(warp* warps_per_block)
    sum_planes(int nx, int y0, int ny, int z0, Kernel kernel, Word* sums, int plane_stride) {
  __shared__ Word of_block[N * ExactSum::words];
  const int thread = static_cast<int>(threadIdx.y) * warp + static_cast<int>(threadIdx.x);
  for (int n = thread; n < N * ExactSum::words; n += warp * warps_per_block) of_block[n] = 0;
  __syncthreads();
  const int k = static_cast<int>(blockIdx.y);
  const int first = static_cast<int>(blockIdx.z * gridDim.x + blockIdx.x) * rows_per_block;
  const int end = first + rows_per_block < ny ? first + rows_per_block : ny;
  for (int j = first + static_cast<int>(threadIdx.y); j < end; j += warps_per_block) {
    double row[N] = {};
#pragma unroll 2
    for (int i = static_cast<int>(threadIdx.x); i < nx; i += warp) {
      double values[N];
      kernel(CellType{i, y0 + j, z0 + k, i == 0 ? nx - 1 : i - 1, i + 1 == nx ? 0 : i + 1}, values);
      for (int n = 0; n < N; ++n) row[n] += values[n];
    }
    for (int n = 0; n < N; ++n) {
      for (int offset = warp / 2; offset > 0; offset /= 2) row[n] += __shfl_down_sync(0xffffffffU, row[n], offset);
      if (threadIdx.x != 0) continue;
      const ExactTerm term = ExactSum::decompose(row[n]);
      Word* sum = of_block + n * ExactSum::words;
      for (int digit = 0; digit < 3; ++digit) atomicAdd(sum + term.digit + digit, static_cast<Word>(term.part[digit]));
      if (!term.representable) atomicAdd(sum + ExactSum::digits, Word{1});
    }
  }
  __syncthreads();
  Word* of_plane = sums + static_cast<std::size_t>(k) * plane_stride;
  for (int n = thread; n < N * ExactSum::words; n += warp * warps_per_block) {
    if (of_block[n] != 0) atomicAdd(of_plane + n, of_block[n]);
  }
}

/// The largest value as the bits of a non-negative double, which order like integers; the bits of a NaN lie above all
/// others.
template <class Kernel, class CellType>
__global__ void __launch_bounds__(warp* warps_per_block)
    max_of_rows(int nx, int y0, int ny, int z0, Kernel kernel, Word* largest_bits) {
  const int k = static_cast<int>(blockIdx.y);
  const int first = static_cast<int>(blockIdx.z * gridDim.x + blockIdx.x) * rows_per_block;
  const int end = first + rows_per_block < ny ? first + rows_per_block : ny;
  Word largest = 0;
  for (int j = first + static_cast<int>(threadIdx.y); j < end; j += warps_per_block) {
#pragma unroll 2
    for (int i = static_cast<int>(threadIdx.x); i < nx; i += warp) {
      const double value = kernel(CellType{i, y0 + j, z0 + k, i == 0 ? nx - 1 : i - 1, i + 1 == nx ? 0 : i + 1});
      const double trapped = value * 0 == 0 ? (value > 0 ? value : 0.0) : __longlong_as_double(0x7ff8000000000000LL);
      const Word bits = static_cast<Word>(__double_as_longlong(trapped));
      largest = bits > largest ? bits : largest;
    }
  }
  for (int offset = warp / 2; offset > 0; offset /= 2) {
    const Word other = __shfl_down_sync(0xffffffffU, largest, offset);
    largest = other > largest ? other : largest;
  }
  // Most warps see that theirs is not the largest without the cost of an atomic operation.
  if (threadIdx.x == 0 && largest > *static_cast<volatile Word*>(largest_bits)) atomicMax(largest_bits, largest);
}

template <class Kernel, class CellType = Cell>
void launch(const char* name, const Box3& box, const Kernel& kernel) {
  constexpr int most_rows_of_blocks = 8;  // in a chunk
  const int blocks_in_row = (box.nx() + block_x - 1) / block_x;
  const int rows_of_blocks = (box.ny() + block_y - 1) / block_y;
  const int in_chunk = rows_of_blocks < most_rows_of_blocks ? rows_of_blocks : most_rows_of_blocks;
  const int chunks = (rows_of_blocks + in_chunk - 1) / in_chunk;
  for_each_index<Kernel, CellType><<<dim3(blocks_in_row * in_chunk, box.nz(), chunks), dim3(block_x, block_y)>>>(
      static_cast<int>(box.lo[0]), static_cast<int>(box.hi[0]), static_cast<int>(box.lo[1]),
      static_cast<int>(box.hi[1]), static_cast<int>(box.lo[2]), blocks_in_row, in_chunk * block_y, kernel);
  check_cuda(cudaGetLastError(), name);
}

/// Zeroed scratch for the results of a reduction, kept between calls so that a step allocates nothing.
inline Word* result_scratch(std::size_t size) {
  static auto* scratch = new Buffer<Word>;  // never destroyed: the CUDA context may be gone by then
  if (scratch->size() < size) *scratch = Buffer<Word>(size);
  check_cuda(cudaMemsetAsync(scratch->data(), 0, size * sizeof(Word)), "cudaMemsetAsync");
  return scratch->data();
}

inline dim3 blocks_of_rows(const Box3& box) {
  const int row_blocks = (box.ny() + rows_per_block - 1) / rows_per_block;
  const int in_chunk = row_blocks < row_blocks_in_chunk ? row_blocks : row_blocks_in_chunk;
  return dim3(in_chunk, box.nz(), (row_blocks + in_chunk - 1) / in_chunk);
}

/// Issues sums over each plane of N quantities, or with `together` over all planes; where they will lie in device
/// memory, until the next reduction: [plane][quantity].
template <int N, class Kernel, class CellType = Cell>
const Word* issue_sums(const char* name, const Box3& box, const Kernel& kernel, bool together) {
  static_assert(sizeof(ExactSum) == ExactSum::words * sizeof(Word));
  const int stride = together ? 0 : N * ExactSum::words;
  Word* sums = result_scratch(static_cast<std::size_t>(together ? 1 : box.nz()) * N * ExactSum::words);
  if (box.empty()) return sums;
  sum_planes<N, Kernel, CellType><<<blocks_of_rows(box), dim3(warp, warps_per_block)>>>(
      box.nx(), static_cast<int>(box.lo[1]), box.ny(), static_cast<int>(box.lo[2]), kernel, sums, stride);
  check_cuda(cudaGetLastError(), name);
  return sums;
}

template <int N, class Kernel>
void sum_planes_of(const char* name, const Box3& box, const Kernel& kernel, bool together, ExactSum* results) {
  const Word* sums = issue_sums<N>(name, box, kernel, together);
  device::copy(results, sums, static_cast<std::size_t>(together ? 1 : box.nz()) * N * sizeof(ExactSum));
}

/// Issues the search for the largest value; where it will lie in device memory, until the next reduction.
template <class Kernel, class CellType = Cell>
const Word* issue_max(const char* name, const Box3& box, const Kernel& kernel) {
  Word* largest = result_scratch(1);
  if (box.empty()) return largest;
  max_of_rows<Kernel, CellType><<<blocks_of_rows(box), dim3(warp, warps_per_block)>>>(
      box.nx(), static_cast<int>(box.lo[1]), box.ny(), static_cast<int>(box.lo[2]), kernel, largest);
  check_cuda(cudaGetLastError(), name);
  return largest;
}

template <class Kernel>
double max_rows(const char* name, const Box3& box, const Kernel& kernel) {
  double value = 0;
  device::copy(&value, issue_max(name, box, kernel), sizeof(value));
  return value;
}

}  // namespace sluice::cuda
