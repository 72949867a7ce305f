#pragma once
// The loops of parallel_for.hpp on an NVIDIA GPU.
#include <type_traits>
#include <vector>

#include "core/decomp/box3.hpp"
#include "core/device/buffer.hpp"
#include "core/device/check_cuda.hpp"

namespace sluice {
struct Cell;
}

namespace sluice::cuda {

inline constexpr int warp = 32;

template <class Kernel, class CellType>
__global__ void for_each_index(int x0, int x1, int y0, int y1, int z0, Kernel kernel) {
  const int i = x0 + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int j = y0 + static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int k = z0 + static_cast<int>(blockIdx.z);
  if (i >= x1 || j >= y1) return;
  if constexpr (std::is_invocable_v<const Kernel&, CellType>) {
    kernel(CellType{i, j, k, i == 0 ? x1 - 1 : i - 1, i + 1 == x1 ? 0 : i + 1});
  } else {
    kernel(i, j, k);
  }
}

/// One warp a row; lane l adds the cells l, l + 32, ...: an order that depends on nx alone.
template <int N, class Kernel, class CellType>
__global__ void sum_each_row(int nx, int y0, int ny, int z0, Kernel kernel, double* rows) {
  const int j = static_cast<int>(blockIdx.x * blockDim.y + threadIdx.y);
  const int k = static_cast<int>(blockIdx.y);
  if (j >= ny) return;
  double sums[N] = {};
  for (int i = static_cast<int>(threadIdx.x); i < nx; i += warp) {
    double values[N];
    kernel(CellType{i, y0 + j, z0 + k, i == 0 ? nx - 1 : i - 1, i + 1 == nx ? 0 : i + 1}, values);
    for (int n = 0; n < N; ++n) sums[n] += values[n];
  }
  for (int n = 0; n < N; ++n) {
    for (int offset = warp / 2; offset > 0; offset /= 2)
      sums[n] += __shfl_down_sync(0xffffffffU, sums[n], offset);
    if (threadIdx.x == 0) rows[(static_cast<std::size_t>(k) * ny + j) * N + n] = sums[n];
  }
}

template <class Kernel, class CellType>
__global__ void max_each_row(int nx, int y0, int ny, int z0, Kernel kernel, double* rows) {
  const int j = static_cast<int>(blockIdx.x * blockDim.y + threadIdx.y);
  const int k = static_cast<int>(blockIdx.y);
  if (j >= ny) return;
  double largest = 0;
  double nan_trap = 0;
  for (int i = static_cast<int>(threadIdx.x); i < nx; i += warp) {
    const double value =
        kernel(CellType{i, y0 + j, z0 + k, i == 0 ? nx - 1 : i - 1, i + 1 == nx ? 0 : i + 1});
    largest = value > largest ? value : largest;
    nan_trap += value * 0;
  }
  for (int offset = warp / 2; offset > 0; offset /= 2) {
    const double other = __shfl_down_sync(0xffffffffU, largest, offset);
    largest = other > largest ? other : largest;
    nan_trap += __shfl_down_sync(0xffffffffU, nan_trap, offset);
  }
  if (threadIdx.x == 0) rows[static_cast<std::size_t>(k) * ny + j] = nan_trap == 0 ? largest : nan_trap;
}

template <class Kernel, class CellType = Cell>
void launch(const char* name, const Box3& box, const Kernel& kernel) {
  const dim3 threads(64, 4, 1);
  const dim3 blocks((box.nx() + threads.x - 1) / threads.x, (box.ny() + threads.y - 1) / threads.y, box.nz());
  for_each_index<Kernel, CellType><<<blocks, threads>>>(
      static_cast<int>(box.lo[0]), static_cast<int>(box.hi[0]), static_cast<int>(box.lo[1]),
      static_cast<int>(box.hi[1]), static_cast<int>(box.lo[2]), kernel);
  check_cuda(cudaGetLastError(), name);
}

/// Scratch for one number a row and quantity, kept between calls so that a step allocates nothing.
inline double* row_scratch(std::size_t size) {
  static auto* scratch = new Buffer<double>;  // never destroyed: the CUDA context may be gone by then
  if (scratch->size() < size) *scratch = Buffer<double>(size);
  return scratch->data();
}

inline std::vector<double> download_rows(const double* rows, std::size_t size) {
  std::vector<double> host(size);
  device::copy(host.data(), rows, size * sizeof(double));
  return host;
}

inline dim3 row_blocks(const Box3& box, unsigned rows_per_block) {
  return dim3((box.ny() + rows_per_block - 1) / rows_per_block, box.nz());
}

template <int N, class Kernel, class CellType = Cell>
std::vector<double> sum_rows(const char* name, const Box3& box, const Kernel& kernel) {
  const std::size_t size = static_cast<std::size_t>(box.ny()) * box.nz() * N;
  double* rows = row_scratch(size);
  sum_each_row<N, Kernel, CellType><<<row_blocks(box, 8), dim3(warp, 8)>>>(
      box.nx(), static_cast<int>(box.lo[1]), box.ny(), static_cast<int>(box.lo[2]), kernel, rows);
  check_cuda(cudaGetLastError(), name);
  return download_rows(rows, size);
}

template <class Kernel, class CellType = Cell>
double max_rows(const char* name, const Box3& box, const Kernel& kernel) {
  const std::size_t size = static_cast<std::size_t>(box.ny()) * box.nz();
  double* rows = row_scratch(size);
  max_each_row<Kernel, CellType><<<row_blocks(box, 8), dim3(warp, 8)>>>(
      box.nx(), static_cast<int>(box.lo[1]), box.ny(), static_cast<int>(box.lo[2]), kernel, rows);
  check_cuda(cudaGetLastError(), name);
  double largest = 0;
  for (const double value : download_rows(rows, size)) {
    if (!(value <= largest)) largest = value;
    if (largest != largest) break;
  }
  return largest;
}

}  // namespace sluice::cuda
