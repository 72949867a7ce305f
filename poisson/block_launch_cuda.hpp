#pragma once
// Kernels that hold z blocks in registers, on an NVIDIA GPU: how threads, lines and blocks correspond.
#include "core/device/check_cuda.hpp"
#include "poisson/block_kernels.hpp"

namespace sluice::cuda {

inline constexpr int threads_of_blocks = 128;  ///< in a block of threads where one thread has one z block
inline constexpr int threads_of_lines = 64;    ///< where one thread has a line of block boundaries, in shared memory

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

/// One thread for each line, with a column of shared memory for its intermediate values.
template <int Threads, int Lanes, class Kernel>
__global__ void __launch_bounds__(Threads) for_each_line(int in_row, unsigned lines, Kernel kernel) {
  extern __shared__ double shared[];
  const unsigned line = blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= lines) return;
  const unsigned j = line / static_cast<unsigned>(in_row);
  kernel(static_cast<int>(line - j * static_cast<unsigned>(in_row)) * Lanes, static_cast<int>(j),
         shared + threadIdx.x * Lanes, static_cast<std::ptrdiff_t>(blockDim.x) * Lanes);
}

template <int Lanes, class Kernel, int Threads = threads_of_lines>
void launch_lines(const char* name, const LineArray& array, int blocks, const Kernel& kernel) {
  const int in_row = array.count / Lanes;
  const auto lines = static_cast<unsigned>(in_row) * static_cast<unsigned>(array.rows);
  if (lines == 0) return;
  const std::size_t shared = sizeof(double) * 2 * Threads * Lanes * static_cast<std::size_t>(blocks);
  check_cuda(cudaFuncSetAttribute(for_each_line<Threads, Lanes, Kernel>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(shared)),
             name);
  for_each_line<Threads, Lanes><<<(lines + Threads - 1) / Threads, Threads, shared>>>(in_row, lines, kernel);
  check_cuda(cudaGetLastError(), name);
}

/// How solve_lines_at_once is to be compiled.
template <int MostThreads, bool PivotsInShared, int ReducedGroup>
struct AtOnceTuning {
  static constexpr int most_threads = MostThreads;  ///< in a block of threads; decides how many registers one may have
  static constexpr bool pivots_in_shared = PivotsInShared;  ///< and kept from the first pass, or computed in each pass
  static constexpr int reduced_group = ReducedGroup;        ///< blocks of a reduced system that are read together
};

/// The shared memory of solve_lines_at_once: for each of `across` lines and each of its blocks, boundary values, their
/// intermediate values, and for ShiftedLines the coefficients of the reduced system and the pivots.
template <class Lines, class Shape, class Tuning>
struct AtOnceShared {
  static constexpr int lanes = Lines::components;
  static constexpr int of_reduced = lanes == 2 ? reduced_coefficients : 0;
  static constexpr int of_pivots = lanes == 2 && Tuning::pivots_in_shared ? Shape::inside : 0;

  int across, blocks;

  static std::size_t bytes(int threads) {
    return static_cast<std::size_t>(threads) *
           ((2 * lanes + of_reduced + of_pivots) * sizeof(double) + 2 * lanes * sizeof(real));
  }

  __device__ int pitch() const { return across * lanes; }  ///< between boundary values
  __device__ double* intermediate(double* shared, int w) const { return shared + w * lanes; }
  __device__ double* coefficients(double* shared, int w) const { return shared + 2 * blocks * pitch() + w; }
  __device__ double* pivots(double* shared) const {
    return shared + 2 * blocks * pitch() + of_reduced * blocks * across;
  }
  __device__ real* values(double* shared, int w) const {
    return reinterpret_cast<real*>(pivots(shared) + of_pivots * blocks * across) + w * lanes;
  }

  /// Where the calling thread keeps its pivots.
  __device__ auto pivot_store(double* shared) const {
    if constexpr (of_pivots > 0) {
      const int thread = static_cast<int>(threadIdx.y) * across + static_cast<int>(threadIdx.x);
      return PivotColumn{pivots(shared) + thread, across * blocks};
    } else {
      return PivotRegisters<Shape::inside>();
    }
  }
};

/// First pass of the calling thread: its block's boundary equations, and their coefficients, to shared memory.
template <class Lines, class Rows, class Shape, class Pivots>
__device__ __forceinline__ void form_at_once(const Lines& lines, const LineArray& x, int i, int j, int block,
                                             const Shape& shape, Rows& rows, Pivots& pivots, double* coefficients,
                                             int across, real* values, int pitch) {
  constexpr int lanes = Lines::components;
  real* at_first = x.at(i * lanes, j, shape.first);
  rows.load_inside(at_first, static_cast<int>(x.stride_z));
  LanePack<lanes> first = pack_at<lanes>(at_first);
  LanePack<lanes> last = pack_at<lanes>(at_first + (shape.rows - 1) * x.stride_z);
  if constexpr (lanes == 2) {
    const ReducedColumn column = reduced_column(lines, i, j);
    double* to = coefficients + reduced_coefficients * block * across;
    to[inverse_of_first * across] = column.at(inverse_of_first, block);
    to[inverse_of_last * across] = column.at(inverse_of_last, block);
    to[coupling * across] = column.at(coupling, block);
  }
  rows.form_boundary(lines, pivots, first, last);
  if constexpr (lanes == 2) {
    if (is_singular_line(lines, i, j)) {
      first.lane[1] =
          static_cast<real>(moment_of_block(lines, shape.first, shape.first + shape.rows, at_first, x.stride_z));
    }
  }
  pack_at<lanes>(values + 2 * block * pitch) = first;
  pack_at<lanes>(values + (2 * block + 1) * pitch) = last;
}

/// Both passes at once where z is not split over ranks: a thread for each block (threadIdx.y) of blockDim.x
/// neighbouring lines. Rows are read once and stay in registers while one thread of each line solves for the block
/// boundaries in shared memory. The same arithmetic as in passes.
template <class Tuning, class Lines, class Shape>
__global__ void __launch_bounds__(Tuning::most_threads) solve_lines_at_once(Lines lines, LineArray x) {
  constexpr int lanes = Lines::components;
  extern __shared__ double shared[];
  const AtOnceShared<Lines, Shape, Tuning> layout{static_cast<int>(blockDim.x), static_cast<int>(blockDim.y)};
  const int w = static_cast<int>(threadIdx.x);
  const int block = static_cast<int>(threadIdx.y);
  const int i = static_cast<int>(blockIdx.x) * layout.across + w;
  const int j = static_cast<int>(blockIdx.y);
  const int pitch = layout.pitch();
  const bool exists = i < x.count / lanes;
  using Store = decltype(layout.pivot_store(shared));
  real* values = layout.values(shared, w);
  double* coefficients = layout.coefficients(shared, w);

  const Shape shape = shape_of_block<Shape>(lines.blocks, 0, block);
  RegisterBlock<lanes, Shape> rows(shape);
  if (exists) {
    BlockPivots<Lines, Store> pivots(lines, i, j, layout.pivot_store(shared));
    form_at_once(lines, x, i, j, block, shape, rows, pivots, coefficients, layout.across, values, pitch);
  }
  __syncthreads();
  if (exists && block == 0) {
    const bool singular = is_singular_line(lines, i, j);
    const double mean = singular ? take_mean(layout.blocks, values, pitch) : 0;
    ReducedColumn column{coefficients, layout.across};
    if constexpr (lanes == 1) column = reduced_column(lines, i, j);
    double* g = layout.intermediate(shared, w);
    sweep_reduced_up<lanes, Tuning::reduced_group>(lines, column, values, pitch, g, pitch);
    sweep_reduced_down<lanes, Tuning::reduced_group>(lines, column, g, pitch, values, pitch);
    if (singular) subtract_mean(mean, layout.blocks, values, pitch);
  }
  __syncthreads();
  if (!exists) return;
  const LanePack<lanes> first = pack_at<lanes>(values + 2 * block * pitch);
  const LanePack<lanes> last = pack_at<lanes>(values + (2 * block + 1) * pitch);
  BlockPivots<Lines, Store> pivots(lines, i, j, layout.pivot_store(shared));
  rows.template solve<(layout.of_pivots > 0)>(lines, pivots, first, last, x.at(i * lanes, j, shape.first),
                                              static_cast<int>(x.stride_z));
}

template <class Tuning, class Shape, class Lines>
void launch_at_once(const char* name, const Lines& lines, const LineArray& x, int across) {
  const int in_row = x.count / Lines::components;
  if (in_row == 0 || x.rows == 0) return;
  const dim3 threads(static_cast<unsigned>(across), static_cast<unsigned>(lines.blocks.count));
  const dim3 blocks(static_cast<unsigned>((in_row + across - 1) / across), static_cast<unsigned>(x.rows));
  const std::size_t shared = AtOnceShared<Lines, Shape, Tuning>::bytes(across * lines.blocks.count);
  const auto kernel = solve_lines_at_once<Tuning, Lines, Shape>;
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)), name);
  kernel<<<blocks, threads, shared>>>(lines, x);
  check_cuda(cudaGetLastError(), name);
}

}  // namespace sluice::cuda
