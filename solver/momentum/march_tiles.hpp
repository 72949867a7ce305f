#pragma once
// What the thread blocks of a GPU's momentum sweep keep in shared memory: tiles of the planes around the one they
// compute. For momentum_sweep_cuda.cpp alone.
#include <cuda_pipeline.h>

#include <cstddef>

#include "solver/correction/correction.hpp"
#include "solver/correction/pressure_update.hpp"
#include "solver/momentum/momentum_terms.hpp"

namespace sluice::march {

// Tiles of each field while plane k is computed, with one plane prefetched.
inline constexpr int velocity_slots = 5;  ///< planes k - 1 to k + 1, k + 2 in correction, k + 3
inline constexpr int pressure_slots = 4;  ///< planes k and k + 1, k + 2 in correction, k + 3
inline constexpr int phi_slots = 4;       ///< planes k + 1 to k + 4

/// Planes of a column; bounds the shared memory of its ColumnMetrics.
inline constexpr int max_planes_in_column = 112;

inline constexpr int piece_bytes = 16;  ///< size of one asynchronous copy
inline constexpr int piece = piece_bytes / sizeof(real);

/// The part of a plane that a thread block keeps: its cells and as many around them as differences of this order read.
template <Order order>
struct Tile {
  static constexpr bool wide = order == Order::fourth;
  static constexpr int nx = wide ? 32 : 64;  ///< cells of the block
  static constexpr int ny = wide ? 8 : 6;
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
  static constexpr bool in_double = sizeof(real) == sizeof(double);
  /// Thread blocks per multiprocessor; limited by registers.
  static constexpr int blocks_at_a_time = wide ? (in_double ? 2 : 4) : (in_double ? 2 : 3);

  static constexpr int left = halo_pieces * piece;  ///< columns before the first cell of the block
};

/// Two neighbouring values: one asynchronous copy of phi, whose rows are aligned to pairs only, and what a thread
/// corrects at a time.
struct alignas(2 * sizeof(real)) Pair {
  real first, second;
};

/// The part of a plane of phi that corrects the velocity of a Tile: its columns begin with those of the Tile.
template <class TileOf>
struct PhiTile {
  static constexpr int more = TileOf::wide ? 1 : 0;  ///< a gradient reads one value below and one above, or two
  static constexpr int below = TileOf::halo + more;  ///< rows before the first cell of the block
  static constexpr int row = (TileOf::left + TileOf::nx + TileOf::halo + 1 + more + 1) / 2 * 2;
  static constexpr int rows = below + TileOf::ny + TileOf::halo + 1 + more;
  static constexpr int size = row * rows;
  static constexpr int pairs_in_row = row / 2;
  static constexpr int pairs_of_thread = (size / 2 + TileOf::threads - 1) / TileOf::threads;
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

/// The metrics of a column's planes and of those around it, and the response to a unit force, in shared memory: the L1
/// cache, through which all fields pass, does not keep them.
class ColumnMetrics {
 public:
  static constexpr int below = 2;  ///< planes below the column, and above
  static constexpr int most_planes = max_planes_in_column + 2 * below;
  static constexpr int size = 4 * most_planes;

  /// `planes`: of the column, from plane `begin` of `nz`. The threads of a block fill `values` together.
  __device__ ColumnMetrics(const MomentumArrays& a, int begin, int planes, int nz, int thread, int threads,
                           real* values)
      : of_plane_0_(values + below - begin) {
    const real* const response = a.pending.correction.response;
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

 private:
  const real* of_plane_0_;
};

/// What a block keeps in shared memory, one part after the other.
template <class TileOf, bool with_pressure>
struct SharedLayout {
  static constexpr int v = velocity_slots * TileOf::size;
  static constexpr int w = 2 * v;
  static constexpr int p = 3 * v;
  static constexpr int phi = p + (with_pressure ? pressure_slots * TileOf::size_of_p : 0);
  static constexpr int old = phi + phi_slots * PhiTile<TileOf>::size;  ///< three old tendencies of each thread's cell
  static constexpr int metrics = old + 3 * TileOf::threads;
  static constexpr std::size_t bytes = static_cast<std::size_t>(metrics + ColumnMetrics::size) * sizeof(real);
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

/// Where a ring of tiles holds plane k: its offset from the first tile. `count`: a power of two.
template <int count, int size>
__device__ int place(int k) {
  static_assert((count & (count - 1)) == 0);
  return (k & (count - 1)) * size;
}

/// The same for other numbers of tiles: offsets that change places as the block marches. An index modulo the number of
/// tiles would cost more instructions.
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

  __device__ void copy(int n, const View3<const real>& f, int k, real* tile) const {
    __pipeline_memcpy_async(tile + (thread + n * TileOf::threads) * piece, f.origin + from[n] + k * f.stride_z,
                            piece_bytes);
  }
};

/// Copies one thread's share of a tile of phi.
template <class TileOf>
struct PhiCopier {
  using Phi = PhiTile<TileOf>;
  static constexpr int count = Phi::pairs_of_thread;
  View3<const real> phi;
  int last_plane;   ///< of phi, its halo included; the first one is -1
  int from[count];  ///< offset in a plane

  __device__ PhiCopier(const PendingCorrection& pending, int thread, int x0, int y0, int nx)
      : phi(pending.correction.phi), last_plane(pending.nz) {
    SLUICE_UNROLL
    for (int n = 0; n < count; ++n) {
      const int number = thread + n * TileOf::threads;
      int i = x0 - TileOf::left + number % Phi::pairs_in_row * 2;
      i = i < 0 ? i + nx : i >= nx ? i - nx : i;  // periodic
      i = i < nx ? i : 0;                         // not used
      // Rows beyond the halo of phi belong to cells that need no correction.
      const int j = min(max(y0 - Phi::below + number / Phi::pairs_in_row, -1), pending.ny);
      from[n] = i + j * static_cast<int>(phi.stride_y);
    }
  }

  __device__ void copy(int k, real* tile, int thread) const {
    const real* const plane = phi.origin + max(min(k, last_plane), -1) * phi.stride_z;
    SLUICE_UNROLL
    for (int n = 0; n < count; ++n) {
      const int number = thread + n * TileOf::threads;
      if (number < Phi::size / 2) __pipeline_memcpy_async(tile + 2 * number, plane + from[n], sizeof(Pair));
    }
  }
};

/// phi around two neighbouring cells, held in registers; f(i, j, k) with i, j, k relative to the first one.
template <Order order>
struct PhiAroundPair {
  static constexpr bool wide = order == Order::fourth;
  Pair west, here, east, south, north, north2, above, below;

  /// at, above_at, below_at: the first cell in the tiles of its plane and of the planes above and below.
  __device__ PhiAroundPair(const real* at, const real* above_at, const real* below_at, int row)
      : here(pair(at)), east(pair(at + 2)), north(pair(at + row)), above(pair(above_at)), below(pair(below_at)) {
    if constexpr (wide) {
      west = pair(at - 2);
      south = pair(at - row);
      north2 = pair(at + 2 * row);
    }
  }
  __device__ real operator()(int i, int j, int k) const {
    const Pair& of_row = k > 0   ? above
                         : k < 0 ? below
                         : j < 0 ? south
                         : j > 1 ? north2
                         : j > 0 ? north
                         : i < 0 ? west
                         : i > 1 ? east
                                 : here;
    return (i & 1) == 0 ? of_row.first : of_row.second;
  }

 private:
  __device__ static Pair pair(const real* at) { return *reinterpret_cast<const Pair*>(at); }
};

/// Turns u* into u, and the old p into the new one, in the tiles of one plane: one thread's share, the same pairs of
/// every tile.
template <Order order, class TileOf, bool with_pressure>
struct Corrector {
  using Phi = PhiTile<TileOf>;
  static constexpr int pairs_in_row = TileOf::row / 2;
  static constexpr int count = (TileOf::size / 2 + TileOf::threads - 1) / TileOf::threads;
  static constexpr bool rows_alike = Phi::row == TileOf::row;
  bool in[count];     ///< whether the pair needs a correction
  int phi_at[count];  ///< offset in a tile of phi, if rows are not alike

  __device__ Corrector(const PendingCorrection& pending, int thread, int y0) {
    SLUICE_UNROLL
    for (int n = 0; n < count; ++n) {
      const int number = thread + n * TileOf::threads;
      const int tile_row = number / pairs_in_row;
      const int column = number % pairs_in_row * 2;
      in[n] = number < TileOf::size / 2 && column < TileOf::left + TileOf::nx + TileOf::halo &&
              pending.in_row(y0 + tile_row - TileOf::halo);
      phi_at[n] = (tile_row + Phi::below - TileOf::halo) * Phi::row + column;
    }
  }

  /// u, v, w, p: tiles of plane k; phi: the first of its tiles.
  __device__ void correct(const MomentumArrays& a, const ColumnMetrics& column, int k, int thread, real* u, real* v,
                          real* w, real* p, const real* phi) const {
    if (!a.pending.in_plane(k)) return;
    const Correction& correction = a.pending.correction;
    const real response = column.response(k);
    const PlaneMetrics m = column.around(a.m, k);
    SLUICE_UNROLL
    for (int n = 0; n < count; ++n) {
      if (!in[n]) continue;
      const int at = 2 * (thread + n * TileOf::threads);
      const int at_phi = rows_alike ? at + (Phi::below - TileOf::halo) * Phi::row : phi_at[n];
      const auto phi_of = [&](int plane) { return phi + place<phi_slots, Phi::size>(plane) + at_phi; };
      const PhiAroundPair<order> around(phi_of(k), phi_of(k + 1), phi_of(k - 1), Phi::row);
      Pair& us = *reinterpret_cast<Pair*>(u + at);
      Pair& vs = *reinterpret_cast<Pair*>(v + at);
      Pair& ws = *reinterpret_cast<Pair*>(w + at);
      Pair star_u = us;
      Pair star_v = vs;
      Pair star_w = ws;
      const auto one = inner_cell<op::CellFor<order>>(0, 0, 0);
      const auto two = inner_cell<op::CellFor<order>>(1, 0, 0);
      us = {corrected_u<order>(star_u.first, correction, around, one, m, response),
            corrected_u<order>(star_u.second, correction, around, two, m, response)};
      vs = {corrected_v<order>(star_v.first, correction, around, one, m, response),
            corrected_v<order>(star_v.second, correction, around, two, m, response)};
      ws = {corrected_w(star_w.first, correction, around, one, m),
            corrected_w(star_w.second, correction, around, two, m)};
      if constexpr (with_pressure) {
        if (!a.pending.with_pressure || at < TileOf::before_p || at >= TileOf::before_p + TileOf::size_of_p) continue;
        Pair& ps = *reinterpret_cast<Pair*>(p + at - TileOf::before_p);
        ps = {updated_pressure(ps.first, correction, around, one, m),
              updated_pressure(ps.second, correction, around, two, m)};
      }
    }
  }
};

}  // namespace sluice::march
