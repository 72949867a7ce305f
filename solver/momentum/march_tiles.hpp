#pragma once
// What the thread blocks of a GPU's momentum sweep keep in shared memory: tiles of the planes around the one they
// compute. For momentum_sweep_cuda.cpp alone.

#include <cstddef>

#include "core/device/copy_ahead.hpp"
#include "core/device/tuning.hpp"
#include "solver/correction/tile_corrector.hpp"
#include "solver/momentum/momentum_terms.hpp"

namespace sluice::march {

// Tiles of each field while plane k is computed, with one plane prefetched, which is copied or in registers.
inline constexpr int velocity_slots =
    copies_are_asynchronous ? 5 : 4;      ///< planes k - 1 to k + 1, k + 2 in correction, k + 3
inline constexpr int pressure_slots = 4;  ///< planes k and k + 1, k + 2 in correction, k + 3

inline constexpr int piece_bytes = device::widest_access;  ///< size of one asynchronous copy
inline constexpr int piece = piece_bytes / sizeof(real);
struct alignas(piece_bytes) Piece {
  real values[piece];
};

/// The part of a plane that a thread block keeps: its cells and as many around them as differences of this order read.
template <Order order, bool large>
struct Tile {
  static constexpr bool wide = points_beside(order) == 2;
  static constexpr tuning::march::Tile chosen = large ? tuning::march::large_tile() : tuning::march::small_tile(wide);
  static constexpr int nx = chosen.nx;  ///< cells of the block
  static constexpr int ny = chosen.ny;
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
  static constexpr int before_p = first_row_of_p * row;  ///< values of a tile of the velocity before those of p
  static constexpr int size_of_p = (end_of_p - first_row_of_p) * row;

  static constexpr int left = halo_pieces * piece;  ///< columns before the first cell of the block
};

/// Values of three planes, indexed relative to the middle one.
struct ThreePlanes {
  real below, at, above;
  __device__ real operator[](int k) const { return k < 0 ? below : k > 0 ? above : at; }
};

/// Metrics around one plane, in registers.
struct PlaneMetrics {
  real inv_dx, inv_dy, velocity;
  ThreePlanes dz, inv_dz, inv_dz_center;
};

/// The metrics of a column's planes and of those around it, the impulse, and the response to a unit one, in shared
/// memory: the L1 cache, through which all fields pass, does not keep them. `threads`: of a block.
template <int threads>
class ColumnMetrics {
 public:
  static constexpr int below = 2;  ///< planes below the column, and above
  static constexpr int most_planes = tuning::march::max_planes + 2 * below;
  static constexpr int impulse = 4 * most_planes;
  static constexpr int size = impulse + 2;

  /// `planes`: of the column, from plane `begin` of `nz`. The threads of a block fill `values` together.
  __device__ ColumnMetrics(const MomentumArrays& a, int begin, int planes, int nz, int thread, real* values)
      : of_plane_0_(values + below - begin), impulse_(values + impulse) {
    if (a.velocity.any() && thread < 2) values[impulse + thread] = a.velocity.left().numbers.impulse[thread];
    const real* const response = a.velocity.response();
    for (int n = thread; n < planes + 2 * below; n += threads) {
      const int k = min(max(begin - below + n, -1), nz);
      values[n] = a.m.dz[k];
      values[n + most_planes] = a.m.inv_dz[k];
      values[n + 2 * most_planes] = a.m.inv_dz_center[k];
      if (response != nullptr) values[n + 3 * most_planes] = response[min(max(k, 0), nz - 1)];
    }
  }

  __device__ PlaneMetrics around(const Metrics& m, int k) const {
    const real* const dz = of_plane_0_ + k;
    const real* const inv_dz = dz + most_planes;
    const real* const inv_dz_center = inv_dz + most_planes;
    return {m.inv_dx,
            m.inv_dy,
            m.velocity,
            {0, dz[0], dz[1]},
            {0, inv_dz[0], inv_dz[1]},
            {inv_dz_center[-1], inv_dz_center[0], 0}};
  }
  __device__ real response(int k) const { return of_plane_0_[k + 3 * most_planes]; }
  __device__ CorrectionWeights weights(const CorrectionNumbers& numbers) const {
    return {numbers.gamma_dt, impulse_[0], impulse_[1], numbers.half_nu_gamma_dt};
  }

 private:
  const real* of_plane_0_;
  const real* impulse_;
};

/// What a block keeps in shared memory, one part after the other.
template <class TileOf, bool with_pressure>
struct SharedLayout {
  static constexpr int v = velocity_slots * TileOf::size;
  static constexpr int w = 2 * v;
  static constexpr int p = 3 * v;
  static constexpr int phi = p + (with_pressure ? pressure_slots * TileOf::size_of_p : 0);
  /// Three old tendencies of each thread's cell, unless registers hold them.
  static constexpr int old = phi + phi_slots * PhiTile<TileOf>::size;
  static constexpr int metrics = old + (copies_are_asynchronous ? 3 * TileOf::threads : 0);
  static constexpr std::size_t bytes =
      static_cast<std::size_t>(metrics + ColumnMetrics<TileOf::threads>::size) * sizeof(real);
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

/// Where a ring of any number of tiles holds its planes: offsets that change places as the block marches. An index
/// modulo the number of tiles would cost more instructions.
template <class TileOf, int count>
struct Places {
  int of[count];

  /// The plane at position `first` is in the first tile.
  __device__ explicit Places(int first) {
    SLUICE_UNROLL
    for (int n = 0; n < count; ++n) of[n] = (n - first + count) % count * TileOf::size;
  }
  /// Each position is a plane higher; the last one gets the tile of the first.
  __device__ void march() {
    const int free = of[0];
    SLUICE_UNROLL
    for (int n = 0; n + 1 < count; ++n) of[n] = of[n + 1];
    of[count - 1] = free;
  }
};

/// Copies one thread's share of each tile to shared memory: the same pieces of every tile.
template <class TileOf>
struct Copier {
  static constexpr int count = TileOf::pieces_of_thread;
  int thread;
  int from[count];  ///< offset in a plane of the array
  bool velocity[count], pressure[count];

  __device__ Copier(const View3<const real>& f, int thread, int x0, int y0, int nx, int ny) : thread(thread) {
    SLUICE_UNROLL
    for (int n = 0; n < count; ++n) {
      const int number = thread + n * TileOf::threads;
      const int tile_row = number / TileOf::pieces_in_row;
      int i = x0 + (number % TileOf::pieces_in_row - TileOf::halo_pieces) * piece;
      i = i < 0 ? i + nx : i >= nx ? i - nx : i;  // periodic
      i = i < nx ? i : 0;                         // right of the last cell and its neighbours: not used
      const int j = min(y0 + tile_row - TileOf::halo, ny + TileOf::halo - 1);
      from[n] = i + j * static_cast<int>(f.stride_y);
      velocity[n] = number < TileOf::pieces;
      pressure[n] = velocity[n] && tile_row >= TileOf::first_row_of_p && tile_row < TileOf::end_of_p;
    }
  }

  __device__ const real* source(int n, const View3<const real>& f, int k) const {
    return f.origin + from[n] + k * f.stride_z;
  }
  __device__ real* target(int n, real* tile) const { return tile + (thread + n * TileOf::threads) * piece; }
};

}  // namespace sluice::march
