// The momentum sweep on an NVIDIA GPU. One thread per cell would keep too few loads in flight to use the memory
// bandwidth. So a thread block owns a column of cells and marches up in z: asynchronous copies prefetch the next planes
// into shared memory while one plane is computed, and each value of u, v, w and p is loaded from memory once. With a
// pending correction, these are u* and phi, and plane k + 2 is corrected in shared memory while plane k is computed.
#include <algorithm>
#include <limits>

#include "core/device/check_cuda.hpp"
#include "core/device/parallel_for.hpp"
#include "solver/momentum/advective_rate.hpp"
#include "solver/momentum/march_tiles.hpp"
#include "solver/momentum/momentum_sweep.hpp"

namespace sluice {

namespace {

using namespace march;

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

/// largest_rate: null, or the bits of the largest advective rate, as max_of_cells finds them. Flows that may leave
/// corrections pending run this one kernel with and without, so that their bits do not depend on which step left one.
template <Order order, bool first, bool implicit_z>
__global__ void __launch_bounds__(Tile<order>::threads, Tile<order>::blocks_at_a_time)
    march_in_z(const MomentumArrays a, int nx, int ny, int nz, int planes_in_column, cuda::Word* largest_rate) {
  extern __shared__ __align__(piece_bytes) unsigned char memory[];
  real* tiles = reinterpret_cast<real*>(memory);
  using TileOf = Tile<order>;
  real* const u = tiles;
  real* const v = u + velocity_slots * TileOf::size;
  real* const w = v + velocity_slots * TileOf::size;
  real* const p = w + velocity_slots * TileOf::size;
  real* const phi = p + (implicit_z ? pressure_slots * TileOf::size : 0);

  const int x0 = static_cast<int>(blockIdx.x) * TileOf::nx;
  const int y0 = static_cast<int>(blockIdx.y) * TileOf::ny;
  const int begin = static_cast<int>(blockIdx.z) * planes_in_column;
  const int end = min(begin + planes_in_column, nz);
  const int i = x0 + static_cast<int>(threadIdx.x);
  const int j = y0 + static_cast<int>(threadIdx.y);
  const bool inside = i < nx && j < ny;
  const int thread = static_cast<int>(threadIdx.y) * TileOf::nx + static_cast<int>(threadIdx.x);
  const bool pending = a.pending.correction.phi.origin != nullptr;
  const Copier<TileOf> copier(a.u, thread, x0, y0, nx, ny);
  const PhiCopier<TileOf> phi_copier(a.pending, thread, x0, y0, nx);
  const Corrector<order, TileOf> corrector(a.pending, thread, y0);

  const auto bring_velocity = [&](int k, int place) {
    SLUICE_UNROLL
    for (int n = 0; n < copier.count; ++n) {
      if (!copier.velocity[n]) continue;
      copier.copy(n, a.u, k, u + place);
      copier.copy(n, a.v, k, v + place);
      copier.copy(n, a.w, k, w + place);
    }
  };
  const auto bring_pressure = [&](int k, int place) {
    SLUICE_UNROLL
    for (int n = 0; n < copier.count; ++n) {
      if (implicit_z && copier.pressure[n]) copier.copy(n, a.p, k, p + place);
    }
  };
  const auto correct = [&](int k, int place, int phi_place, int phi_above) {
    corrector.correct(a.pending, a.m, k, u + place, v + place, w + place, phi + phi_place, phi + phi_above);
  };

  // The places of planes k - 1 to k + 3 of the velocity, k to k + 2 of p, and k + 1 to k + 4 of phi. The loop begins
  // with k = begin - 1, a plane that it does not compute.
  Places<TileOf, velocity_slots> at_velocity(1);
  Places<TileOf, pressure_slots> at_p(1);
  Places<PhiTile<TileOf>, phi_slots> at_phi(3);
  for (int n = 1; n <= 3; ++n) bring_velocity(begin + n - 2, at_velocity.of[n]);
  bring_pressure(begin, at_p.of[1]);
  // phi of planes begin - 1 to begin + 2. The first one is needed only before the loop, which puts plane k + 4 in its
  // place.
  if (pending) {
    phi_copier.copy(begin - 1, phi + at_phi.of[3], thread);
    for (int n = 0; n < 3; ++n) phi_copier.copy(begin + n, phi + at_phi.of[n], thread);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  if (pending) {
    correct(begin - 1, at_velocity.of[1], at_phi.of[3], at_phi.of[0]);
    correct(begin, at_velocity.of[2], at_phi.of[0], at_phi.of[1]);
  }

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

  cuda::Word largest = 0;
  for (int k = begin - 1; k < end; ++k, at_velocity.march(), at_p.march(), at_phi.march()) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (k + 1 < end) bring_pressure(k + 2, at_p.of[2]);
    if (k + 3 <= end) {
      bring_velocity(k + 3, at_velocity.of[4]);
      if (pending) phi_copier.copy(k + 4, phi + at_phi.of[3], thread);
    }
    __pipeline_commit();
    if (pending && k + 2 <= end) correct(k + 2, at_velocity.of[3], at_phi.of[1], at_phi.of[2]);
    if (!inside || k < begin) continue;

    const real was_u = old_u;
    const real was_v = old_v;
    const real was_w = old_w;
    if (!first && k + 1 < end) fetch_old(at + a.u.stride_z);
    const auto around = [&](const real* of) {
      return Window<TileOf::row>{of + at_velocity.of[0] + cell, of + at_velocity.of[1] + cell,
                                 of + at_velocity.of[2] + cell};
    };
    const auto uk = around(u);
    const auto vk = around(v);
    const auto wk = around(w);
    const Window<TileOf::row> pk{nullptr, p + at_p.of[0] + cell, p + at_p.of[1] + cell};
    const auto here = inner_cell<op::CellFor<order>>(0, 0, 0);
    const PlaneMetrics m(a.m, k);
    if (largest_rate != nullptr) {
      const double rate = advective_rate<order>(uk(0, 0, 0), vk(0, 0, 0), wk(0, 0, 0), 0, m);
      largest = cuda::larger(largest, cuda::ordered_bits(rate));
    }
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
  if (largest_rate != nullptr) cuda::keep_largest(largest, largest_rate);
}

/// Pieces must be aligned and not straddle the period; one offset must serve all arrays; tiles must fit.
template <Order order>
bool suits_march(const MomentumArrays& a, const Box3& box, bool implicit_z) {
  if (box.nx() < Tile<order>::left || box.nx() % piece != 0 || a.u.stride_y % piece != 0 ||
      a.u.stride_z > std::numeric_limits<int>::max()) {
    return false;
  }
  static const auto memory = static_cast<std::size_t>(cuda::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  if (shared_bytes<Tile<order>>(implicit_z) > memory) return false;
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
void launch_march(const MomentumArrays& arrays, const Box3& box, cuda::Word* largest_rate) {
  using TileOf = Tile<order>;
  const dim3 columns((box.nx() + TileOf::nx - 1) / TileOf::nx, (box.ny() + TileOf::ny - 1) / TileOf::ny);
  const int planes = choose_planes_in_column(static_cast<int>(columns.x * columns.y), box.nz());
  const dim3 blocks(columns.x, columns.y, (box.nz() + planes - 1) / planes);
  const auto kernel = march_in_z<order, first, implicit_z>;
  constexpr std::size_t bytes = shared_bytes<TileOf>(implicit_z);
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
             "shared memory of the momentum sweep");
  kernel<<<blocks, dim3(TileOf::nx, TileOf::ny), bytes>>>(arrays, box.nx(), box.ny(), box.nz(), planes, largest_rate);
  check_cuda(cudaGetLastError(), "momentum");
}

}  // namespace

void sweep_momentum(const MomentumArrays& arrays, const Box3& box, Order order, bool first, bool implicit_z,
                    Deferred<double>* largest_rate) {
  with_constants(order, first, implicit_z, [&](auto kind) {
    if (!box.empty() && suits_march<kind.order>(arrays, box, implicit_z)) {
      cuda::Word* const largest = largest_rate != nullptr ? cuda::result_scratch(1) : nullptr;
      launch_march<kind.order, kind.first, kind.implicit_z>(arrays, box, largest);
      if (largest_rate != nullptr) largest_rate->fetch(largest);
      return;
    }
    SLUICE_REQUIRE(!arrays.pending.any(), "only a sweep that marches corrects the velocity");
    parallel_for("momentum", box, UpdateVelocity<kind.order, kind.first, kind.implicit_z>{arrays});
    if (largest_rate == nullptr) return;
    reduce_max("advective rate", box, AdvectiveRate<kind.order>{arrays.u, arrays.v, arrays.w, arrays.m}, *largest_rate);
  });
}

bool takes_pending(const MomentumArrays& arrays, const View3<const real>& phi, const Box3& box, Order order,
                   bool implicit_z) {
  if (box.empty() || phi.stride_y % 2 != 0 || reinterpret_cast<std::uintptr_t>(phi.origin) % sizeof(Pair) != 0) {
    return false;
  }
  return order == Order::fourth ? suits_march<Order::fourth>(arrays, box, implicit_z)
                                : suits_march<Order::second>(arrays, box, implicit_z);
}

}  // namespace sluice
