// The momentum sweep on an NVIDIA GPU. One thread per cell would keep too few loads in flight to use the memory
// bandwidth. So a thread block owns a column of cells and marches up in z: asynchronous copies prefetch the next planes
// into shared memory while one plane is computed, and each value of u, v, w and p is loaded from memory once.
#include <cuda_pipeline.h>

#include <algorithm>

#include "core/device/check_cuda.hpp"
#include "core/device/parallel_for.hpp"
#include "solver/momentum/momentum_sweep.hpp"

namespace sluice {

namespace {

constexpr int planes_ahead = 1;
constexpr int velocity_slots = planes_ahead + 3;  ///< planes k - 1 to k + 1 and the prefetched ones
constexpr int pressure_slots = planes_ahead + 2;

constexpr int piece_bytes = 16;  ///< size of one asynchronous copy
constexpr int piece = piece_bytes / sizeof(real);

/// The part of a plane that a thread block keeps: its cells and as many around them as differences of this order read.
template <Order order>
struct Tile {
  static constexpr bool wide = order == Order::fourth;
  static constexpr int nx = wide ? 32 : 64;  ///< cells of the block
  static constexpr int ny = wide ? 8 : 4;
  static constexpr int threads = nx * ny;
  static constexpr int halo = op::CellFor<order>::reach;
  static constexpr int halo_pieces = (halo + piece - 1) / piece;  ///< in x, whole pieces to keep copies aligned
  static constexpr int row = nx + 2 * halo_pieces * piece;
  static constexpr int size = row * (ny + 2 * halo);
  static constexpr int pieces_in_row = row / piece;
  static constexpr int pieces = size / piece;
  static constexpr int pieces_of_thread = (pieces + threads - 1) / threads;
  static constexpr int first_row_of_p = halo - halo / 2;  ///< the y derivative of p reads fewer rows than momentum does
  static constexpr int end_of_p = halo + ny + (halo + 1) / 2;
  static constexpr bool in_double = sizeof(real) == sizeof(double);
  /// Thread blocks per multiprocessor; limited by registers.
  static constexpr int blocks_at_a_time = wide ? (in_double ? 2 : 4) : (in_double ? 3 : 5);

  static constexpr std::size_t shared_bytes(bool with_pressure) {
    return (3 * velocity_slots + (with_pressure ? pressure_slots : 0)) * size * sizeof(real);
  }
};

/// The neighbourhood of a cell in three planes of a tile: f(i, j, k) with i, j, k relative to the cell.
template <int row>
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
template <class TileOf, int slots>
struct Ring {
  real* tiles;
  __device__ real* tile(int k) const { return tiles + (k + slots) % slots * TileOf::size; }
  __device__ Window<TileOf::row> around(int k, int cell) const {
    return {tile(k - 1) + cell, tile(k) + cell, tile(k + 1) + cell};
  }
};

/// Copies one thread's share of each tile to shared memory: the same pieces of every tile.
template <class TileOf>
struct Copier {
  static constexpr int count = TileOf::pieces_of_thread;
  std::ptrdiff_t from[count];  ///< offset in a plane of the array
  int to[count];               ///< offset in a tile
  bool velocity[count], pressure[count];

  __device__ Copier(const View3<const real>& f, int thread, int x0, int y0, int nx, int ny) {
    SLUICE_UNROLL
    for (int n = 0; n < count; ++n) {
      const int number = thread + n * TileOf::threads;
      const int tile_row = number / TileOf::pieces_in_row;
      int i = x0 + (number % TileOf::pieces_in_row - TileOf::halo_pieces) * piece;
      i = i < 0 ? i + nx : i >= nx ? i - nx : i;  // periodic
      i = i < nx ? i : 0;                         // right of the last cell and its neighbours: not used
      const int j = min(y0 + tile_row - TileOf::halo, ny + TileOf::halo - 1);
      from[n] = i + j * f.stride_y;
      to[n] = number * piece;
      velocity[n] = number < TileOf::pieces;
      pressure[n] = velocity[n] && tile_row >= TileOf::first_row_of_p && tile_row < TileOf::end_of_p;
    }
  }

  template <int slots>
  __device__ void copy(int n, const View3<const real>& f, int k, const Ring<TileOf, slots>& ring) const {
    __pipeline_memcpy_async(ring.tile(k) + to[n], f.origin + from[n] + k * f.stride_z, piece_bytes);
  }
};

/// Values of three planes, indexed relative to the middle one.
struct ThreePlanes {
  real below, at, above;
  __device__ real operator[](int k) const { return k < 0 ? below : k > 0 ? above : at; }
};

/// Metrics around one plane, held in registers so that stores to arrays do not force reloads.
struct PlaneMetrics {
  real inv_dx, inv_dy, velocity;
  ThreePlanes dz, inv_dz, inv_dz_center;

  __device__ PlaneMetrics(const Metrics& m, int k)
      : inv_dx(m.inv_dx),
        inv_dy(m.inv_dy),
        velocity(m.velocity),
        dz{0, m.dz[k], m.dz[k + 1]},
        inv_dz{0, m.inv_dz[k], m.inv_dz[k + 1]},
        inv_dz_center{m.inv_dz_center[k - 1], m.inv_dz_center[k], 0} {}
};

template <Order order, bool first, bool implicit_z>
__global__ void __launch_bounds__(Tile<order>::threads, Tile<order>::blocks_at_a_time)
    march_in_z(const MomentumArrays a, int nx, int ny, int nz, int planes_in_column) {
  extern __shared__ __align__(piece_bytes) unsigned char memory[];
  real* tiles = reinterpret_cast<real*>(memory);
  using TileOf = Tile<order>;
  using Velocity = Ring<TileOf, velocity_slots>;
  const Velocity u{tiles};
  const Velocity v{tiles + velocity_slots * TileOf::size};
  const Velocity w{tiles + 2 * velocity_slots * TileOf::size};
  const Ring<TileOf, pressure_slots> p{tiles + 3 * velocity_slots * TileOf::size};

  const int x0 = static_cast<int>(blockIdx.x) * TileOf::nx;
  const int y0 = static_cast<int>(blockIdx.y) * TileOf::ny;
  const int begin = static_cast<int>(blockIdx.z) * planes_in_column;
  const int end = min(begin + planes_in_column, nz);
  const int i = x0 + static_cast<int>(threadIdx.x);
  const int j = y0 + static_cast<int>(threadIdx.y);
  const bool inside = i < nx && j < ny;
  const int thread = static_cast<int>(threadIdx.y) * TileOf::nx + static_cast<int>(threadIdx.x);
  const Copier<TileOf> copier(a.u, thread, x0, y0, nx, ny);

  const auto bring_velocity = [&](int k) {
    SLUICE_UNROLL
    for (int n = 0; n < copier.count; ++n) {
      if (!copier.velocity[n]) continue;
      copier.copy(n, a.u, k, u);
      copier.copy(n, a.v, k, v);
      copier.copy(n, a.w, k, w);
    }
  };
  const auto bring_pressure = [&](int k) {
    SLUICE_UNROLL
    for (int n = 0; n < copier.count; ++n) {
      if (implicit_z && copier.pressure[n]) copier.copy(n, a.p, k, p);
    }
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

  const int cell = (static_cast<int>(threadIdx.y) + TileOf::halo) * TileOf::row + static_cast<int>(threadIdx.x) +
                   TileOf::halo_pieces * piece;
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
    const auto uk = u.around(k, cell);
    const auto vk = v.around(k, cell);
    const auto wk = w.around(k, cell);
    const Window<TileOf::row> pk{nullptr, p.tile(k) + cell, p.tile(k + 1) + cell};
    const auto here = inner_cell<op::CellFor<order>>(0, 0, 0);
    const PlaneMetrics m(a.m, k);
    const auto of_u = op::transports_of_u<order>(uk, vk, here, m);
    const auto of_v = op::transports_of_v<order>(uk, vk, here, m);
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

/// Pieces must be aligned and not straddle the period; one offset must serve all arrays; tiles must fit.
template <Order order>
bool suits_march(const MomentumArrays& a, const Box3& box, bool implicit_z) {
  if (box.nx() < Tile<order>::halo_pieces * piece || box.nx() % piece != 0 || a.u.stride_y % piece != 0) return false;
  static const auto memory = static_cast<std::size_t>(cuda::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  if (Tile<order>::shared_bytes(implicit_z) > memory) return false;
  const auto alike = [&](const auto& f) { return f.stride_y == a.u.stride_y && f.stride_z == a.u.stride_z; };
  return alike(a.v) && alike(a.w) && (!implicit_z || alike(a.p)) && alike(a.tendency_u) && alike(a.tendency_v) &&
         alike(a.tendency_w) && alike(a.star_u) && alike(a.star_v) && alike(a.star_w);
}

/// Long columns read few planes twice; short ones occupy every multiprocessor on a small grid.
int choose_planes_in_column(int columns, int nz) {
  constexpr long long blocks_wanted = 8192;
  return static_cast<int>(std::clamp<long long>(static_cast<long long>(columns) * nz / blocks_wanted, 16, 128));
}

template <Order order, bool first, bool implicit_z>
void launch_march(const MomentumArrays& arrays, const Box3& box) {
  using TileOf = Tile<order>;
  const dim3 columns((box.nx() + TileOf::nx - 1) / TileOf::nx, (box.ny() + TileOf::ny - 1) / TileOf::ny);
  const int planes = choose_planes_in_column(static_cast<int>(columns.x * columns.y), box.nz());
  const dim3 blocks(columns.x, columns.y, (box.nz() + planes - 1) / planes);
  const auto kernel = march_in_z<order, first, implicit_z>;
  constexpr std::size_t bytes = TileOf::shared_bytes(implicit_z);
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
             "shared memory of the momentum sweep");
  kernel<<<blocks, dim3(TileOf::nx, TileOf::ny), bytes>>>(arrays, box.nx(), box.ny(), box.nz(), planes);
  check_cuda(cudaGetLastError(), "momentum");
}

}  // namespace

void sweep_momentum(const MomentumArrays& arrays, const Box3& box, Order order, bool first, bool implicit_z) {
  if (box.empty()) return;
  with_constants(order, first, implicit_z, [&](auto kind) {
    if (suits_march<kind.order>(arrays, box, implicit_z)) {
      return launch_march<kind.order, kind.first, kind.implicit_z>(arrays, box);
    }
    parallel_for("momentum", box, UpdateVelocity<kind.order, kind.first, kind.implicit_z>{arrays});
  });
}

}  // namespace sluice
