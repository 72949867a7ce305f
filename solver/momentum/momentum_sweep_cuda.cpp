// The momentum sweep on an NVIDIA GPU. For order 4, one thread computes one cell. For order 2, one thread per cell
// keeps too few loads in flight to use the memory bandwidth. So a thread block owns a column of cells and marches up in
// z: asynchronous copies prefetch the next planes into shared memory while one plane is computed, and each value of u,
// v, w and p is loaded from memory once.
#include <cuda_pipeline.h>

#include <algorithm>

#include "core/device/check_cuda.hpp"
#include "core/device/parallel_for.hpp"
#include "solver/momentum/momentum_sweep.hpp"

namespace sluice {

namespace {

constexpr int tile_x = 64;  ///< cells per column
constexpr int tile_y = 4;
constexpr int threads = tile_x * tile_y;
constexpr int planes_ahead = 1;
constexpr int blocks_at_a_time = sizeof(real) == sizeof(double) ? 3 : 5;  ///< per multiprocessor; limited by registers

constexpr int piece_bytes = 16;  ///< size of one asynchronous copy
constexpr int piece = piece_bytes / sizeof(real);
constexpr int row = tile_x + 2 * piece;  ///< of a tile; its x halo is one piece wide to keep copies aligned
constexpr int plane = row * (tile_y + 2);
constexpr int pieces_in_row = row / piece;
constexpr int pieces = plane / piece;
static_assert(pieces <= threads, "each thread copies one piece of a tile");

constexpr int velocity_slots = planes_ahead + 3;  ///< planes k - 1 to k + 1 and the prefetched ones
constexpr int pressure_slots = planes_ahead + 2;
constexpr std::size_t shared_bytes(bool with_pressure) {
  return (3 * velocity_slots + (with_pressure ? pressure_slots : 0)) * plane * sizeof(real);
}

/// The neighbourhood of a cell in three planes of a tile: f(i, j, k) with i, j, k relative to the cell.
struct Window {
  const real* below;
  const real* at;
  const real* above;
  __device__ real operator()(int i, int j, int k) const {
    const real* of_plane = k < 0 ? below : k > 0 ? above : at;
    return of_plane[i + j * row];
  }
};

/// The planes of one field in shared memory: plane k is in slot k modulo `slots`.
template <int slots>
struct Ring {
  real* tiles;
  __device__ real* tile(int k) const { return tiles + (k + slots) % slots * plane; }
  __device__ Window around(int k, int cell) const { return {tile(k - 1) + cell, tile(k) + cell, tile(k + 1) + cell}; }
};

/// Copies one thread's share of each tile to shared memory: the same piece of every tile.
struct Copier {
  std::ptrdiff_t from;  ///< offset in a plane of the array
  int to;               ///< offset in a tile
  bool velocity, pressure;

  __device__ Copier(const View3<const real>& f, int thread, int x0, int y0, int nx, int ny) {
    const int tile_row = thread / pieces_in_row;
    int i = x0 + (thread % pieces_in_row - 1) * piece;
    i = i < 0 ? i + nx : i >= nx ? i - nx : i;  // periodic
    i = i < nx ? i : 0;                         // right of the last cell and its neighbour: not used
    const int j = min(y0 + tile_row - 1, ny);
    from = i + j * f.stride_y;
    to = thread * piece;
    velocity = thread < pieces;
    pressure = velocity && tile_row > 0;  // p is not read at j - 1
  }

  template <int slots>
  __device__ void copy(const View3<const real>& f, int k, const Ring<slots>& ring) const {
    __pipeline_memcpy_async(ring.tile(k) + to, f.origin + from + k * f.stride_z, piece_bytes);
  }
};

/// Values of three planes, indexed relative to the middle one.
struct ThreePlanes {
  real below, at, above;
  __device__ real operator[](int k) const { return k < 0 ? below : k > 0 ? above : at; }
};

/// Metrics around one plane, held in registers so that stores to arrays do not force reloads.
struct PlaneMetrics {
  real inv_dx, inv_dy;
  ThreePlanes dz, inv_dz, inv_dz_center;

  __device__ PlaneMetrics(const Metrics& m, int k)
      : inv_dx(m.inv_dx),
        inv_dy(m.inv_dy),
        dz{0, m.dz[k], m.dz[k + 1]},
        inv_dz{0, m.inv_dz[k], m.inv_dz[k + 1]},
        inv_dz_center{m.inv_dz_center[k - 1], m.inv_dz_center[k], 0} {}
};

template <bool first, bool implicit_z>
__global__ void __launch_bounds__(threads, blocks_at_a_time)
    march_in_z(const MomentumArrays a, int nx, int ny, int nz, int planes_in_column) {
  extern __shared__ __align__(piece_bytes) unsigned char memory[];
  real* tiles = reinterpret_cast<real*>(memory);
  const Ring<velocity_slots> u{tiles};
  const Ring<velocity_slots> v{tiles + velocity_slots * plane};
  const Ring<velocity_slots> w{tiles + 2 * velocity_slots * plane};
  const Ring<pressure_slots> p{tiles + 3 * velocity_slots * plane};

  const int x0 = static_cast<int>(blockIdx.x) * tile_x;
  const int y0 = static_cast<int>(blockIdx.y) * tile_y;
  const int begin = static_cast<int>(blockIdx.z) * planes_in_column;
  const int end = min(begin + planes_in_column, nz);
  const int i = x0 + static_cast<int>(threadIdx.x);
  const int j = y0 + static_cast<int>(threadIdx.y);
  const bool inside = i < nx && j < ny;
  const Copier copier(a.u, static_cast<int>(threadIdx.y) * tile_x + static_cast<int>(threadIdx.x), x0, y0, nx, ny);

  const auto bring_velocity = [&](int k) {
    if (!copier.velocity) return;
    copier.copy(a.u, k, u);
    copier.copy(a.v, k, v);
    copier.copy(a.w, k, w);
  };
  const auto bring_pressure = [&](int k) {
    if (implicit_z && copier.pressure) copier.copy(a.p, k, p);
  };
  // Loads what plane k needs and plane k - 1 did not.
  const auto bring_for = [&](int k) {
    if (k < end) {
      bring_velocity(k + 1);
      bring_pressure(k + 1);
    }
    __pipeline_commit();
  };

  bring_velocity(begin - 1);
  bring_velocity(begin);
  bring_pressure(begin);
  for (int k = begin; k < begin + planes_ahead; ++k) bring_for(k);

  const int cell = (static_cast<int>(threadIdx.y) + 1) * row + static_cast<int>(threadIdx.x) + piece;
  std::ptrdiff_t at = i + j * a.u.stride_y + begin * a.u.stride_z;
  real old_u = 0;
  real old_v = 0;
  real old_w = 0;
  const auto fetch_old = [&](std::ptrdiff_t from) {
    old_u = a.star_u.origin[from];
    old_v = a.star_v.origin[from];
    old_w = a.star_w.origin[from];
  };
  if (!first && inside) fetch_old(at);

  for (int k = begin; k < end; ++k) {
    __pipeline_wait_prior(planes_ahead - 1);
    __syncthreads();
    bring_for(k + planes_ahead);
    if (!inside) continue;

    const real was_u = old_u;
    const real was_v = old_v;
    const real was_w = old_w;
    if (!first && k + 1 < end) fetch_old(at + a.u.stride_z);
    const Window uk = u.around(k, cell);
    const Window vk = v.around(k, cell);
    const Window wk = w.around(k, cell);
    const Window pk{nullptr, p.tile(k) + cell, p.tile(k + 1) + cell};
    const Cell here{0, 0, 0, -1, 1};
    const PlaneMetrics m(a.m, k);
    constexpr Order order = Order::second;
    const auto of_u = op::transports_of_u<order>(uk, vk, here);
    const auto of_v = op::transports_of_v<order>(uk, vk, here);
    const auto of_w = op::transports_of_w(uk, vk, here, m);
    const Prediction new_u = predict_u<order, first, implicit_z>(a, of_u, uk, wk, pk, here, m, was_u);
    const Prediction new_v = predict_v<order, first, implicit_z>(a, of_v, vk, wk, pk, here, m, was_v);
    const Prediction new_w = predict_w<order, first, implicit_z>(a, of_w, wk, pk, here, m, was_w);
    a.tendency_u.origin[at] = new_u.tendency;
    a.star_u.origin[at] = new_u.star;
    a.tendency_v.origin[at] = new_v.tendency;
    a.star_v.origin[at] = new_v.star;
    a.tendency_w.origin[at] = new_w.tendency;
    a.star_w.origin[at] = new_w.star;
    at += a.u.stride_z;
  }
}

/// Pieces must be aligned and not straddle the period; one offset must serve all arrays.
bool suits_march(const MomentumArrays& a, const Box3& box, bool implicit_z) {
  if (box.nx() % piece != 0 || a.u.stride_y % piece != 0) return false;
  const auto alike = [&](const auto& f) { return f.stride_y == a.u.stride_y && f.stride_z == a.u.stride_z; };
  return alike(a.v) && alike(a.w) && (!implicit_z || alike(a.p)) && alike(a.tendency_u) && alike(a.tendency_v) &&
         alike(a.tendency_w) && alike(a.star_u) && alike(a.star_v) && alike(a.star_w);
}

/// Long columns read few planes twice; short ones occupy every multiprocessor on a small grid.
int choose_planes_in_column(int columns, int nz) {
  constexpr long long blocks_wanted = 8192;
  return static_cast<int>(std::clamp<long long>(static_cast<long long>(columns) * nz / blocks_wanted, 16, 128));
}

template <bool first, bool implicit_z>
void launch_march(const MomentumArrays& arrays, const Box3& box) {
  const dim3 columns((box.nx() + tile_x - 1) / tile_x, (box.ny() + tile_y - 1) / tile_y);
  const int planes = choose_planes_in_column(static_cast<int>(columns.x * columns.y), box.nz());
  const dim3 blocks(columns.x, columns.y, (box.nz() + planes - 1) / planes);
  const auto kernel = march_in_z<first, implicit_z>;
  constexpr std::size_t bytes = shared_bytes(implicit_z);
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
             "shared memory of the momentum sweep");
  kernel<<<blocks, dim3(tile_x, tile_y), bytes>>>(arrays, box.nx(), box.ny(), box.nz(), planes);
  check_cuda(cudaGetLastError(), "momentum");
}

}  // namespace

void sweep_momentum(const MomentumArrays& arrays, const Box3& box, Order order, bool first, bool implicit_z) {
  if (box.empty()) return;
  with_constants(order, first, implicit_z, [&](auto kind) {
    if constexpr (kind.order == Order::second) {
      if (suits_march(arrays, box, implicit_z)) return launch_march<kind.first, kind.implicit_z>(arrays, box);
    }
    parallel_for("momentum", box, UpdateVelocity<kind.order, kind.first, kind.implicit_z>{arrays});
  });
}

}  // namespace sluice
