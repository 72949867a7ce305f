#pragma once
// The kernels of block_kernels.hpp on an NVIDIA GPU: how threads, lines and blocks correspond.
#include <algorithm>

#include "core/device/check_cuda.hpp"
#include "poisson/tridiagonal/block_kernels.hpp"

namespace sluice::cuda {

inline constexpr int threads_of_blocks = 128;  ///< in a block of threads where one thread has one z block
inline constexpr int threads_of_lines = 64;    ///< where one thread has a line of block boundaries, in shared memory

/// Bytes of shared memory that a block of those may have: 200 KiB, or what the GPU allows.
inline std::size_t shared_of_lines() {
  static const std::size_t limit = std::min(
      std::size_t{200} * 1024, static_cast<std::size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)));
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
void launch_blocks(const char* name, const LineArray& array, int blocks, const Kernel& kernel) {
  const int in_row = array.count / Lanes;
  const auto lines = static_cast<unsigned>(in_row) * static_cast<unsigned>(array.rows);
  if (lines == 0 || blocks == 0) return;
  for_each_block<Threads, Lanes><<<dim3((lines + Threads - 1) / Threads, blocks), Threads>>>(in_row, lines, kernel);
  check_cuda(cudaGetLastError(), name);
}

/// Blocks of threads whose shared memory a multiprocessor has where z blocks have 32 rows: registers for no more.
inline constexpr int resident_on_chip = 3;

/// The same for a kernel whose threads hold their rows in shared memory.
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
void launch_blocks_on_chip(const char* name, const LineArray& array, int blocks, const Kernel& kernel) {
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
void launch_lines(const char* name, const LineArray& array, int blocks, const Kernel& kernel) {
  const int in_row = array.count / Lanes;
  const auto lines = static_cast<unsigned>(in_row) * static_cast<unsigned>(array.rows);
  if (lines == 0) return;
  const std::size_t column = sizeof(double) * 2 * Lanes * static_cast<std::size_t>(blocks);
  unsigned threads = threads_of_lines;  // fewer where they must: the result is the same
  while (threads > 8 && threads * column > shared_of_lines()) threads /= 2;
  check_cuda(cudaFuncSetAttribute(for_each_line<Lanes, Kernel>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(threads * column)),
             name);
  for_each_line<Lanes><<<(lines + threads - 1) / threads, threads, threads * column>>>(in_row, lines, kernel);
  check_cuda(cudaGetLastError(), name);
}

}  // namespace sluice::cuda
