#pragma once
// What the thread blocks of a GPU's momentum sweep keep in shared memory: tiles of the planes around the one they
// compute. For momentum_sweep_cuda.cpp alone.
#include <cuda_pipeline.h>

#include <cstddef>

#include "solver/momentum/correction.hpp"
#include "solver/momentum/momentum_terms.hpp"

namespace sluice::march {

// Tiles of each field while plane k is computed, with one plane prefetched.
inline constexpr int velocity_slots = 5;  ///< planes k - 1 to k + 1, k + 2 in correction, k + 3
inline constexpr int pressure_slots = 3;  ///< planes k to k + 2
inline constexpr int phi_slots = 4;       ///< planes k + 2 to k + 4; a column begins with four

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

template <class TileOf>
constexpr std::size_t shared_bytes(bool with_pressure) {
  const int slots = 3 * velocity_slots + (with_pressure ? pressure_slots : 0);
  return static_cast<std::size_t>(slots * TileOf::size + phi_slots * PhiTile<TileOf>::size) * sizeof(real);
}

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

/// Where a ring of tiles holds successive planes: offsets from its first tile, which change places as the block
/// marches. An index modulo the number of tiles would cost more instructions.
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
  int from[count];  ///< offset in a plane of the array
  int to[count];    ///< offset in a tile
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
      from[n] = i + j * static_cast<int>(f.stride_y);
      to[n] = number * piece;
      velocity[n] = number < TileOf::pieces;
      pressure[n] = velocity[n] && tile_row >= TileOf::first_row_of_p && tile_row < TileOf::end_of_p;
    }
  }

  __device__ void copy(int n, const View3<const real>& f, int k, real* tile) const {
    __pipeline_memcpy_async(tile + to[n], f.origin + from[n] + k * f.stride_z, piece_bytes);
  }
};

/// Copies one thread's share of a tile of phi.
template <class TileOf>
struct PhiCopier {
  using Phi = PhiTile<TileOf>;
  static constexpr int count = Phi::pairs_of_thread;
  View3<const real> phi;
  int last_plane;   ///< of phi, its halo included
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
    const real* const plane = phi.origin + min(k, last_plane) * phi.stride_z;
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
  Pair west, here, east, south, north, north2, above;

  /// at, above_at: the first cell in the tiles of its plane and of the plane above.
  __device__ PhiAroundPair(const real* at, const real* above_at, int row)
      : here(pair(at)), east(pair(at + 2)), north(pair(at + row)), above(pair(above_at)) {
    if constexpr (wide) {
      west = pair(at - 2);
      south = pair(at - row);
      north2 = pair(at + 2 * row);
    }
  }
  __device__ real operator()(int i, int j, int k) const {
    const Pair& of_row = k > 0   ? above
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

/// Turns u* into u in the tiles of one plane: one thread's share, the same pairs of every tile.
template <Order order, class TileOf>
struct Corrector {
  using Phi = PhiTile<TileOf>;
  static constexpr int count = (TileOf::size / 2 + TileOf::threads - 1) / TileOf::threads;
  int at[count];      ///< offset in a tile of the velocity; -1: the pair needs no correction
  int phi_at[count];  ///< offset in a tile of phi

  __device__ Corrector(const PendingCorrection& pending, int thread, int y0) {
    constexpr int pairs_in_row = TileOf::row / 2;
    SLUICE_UNROLL
    for (int n = 0; n < count; ++n) {
      const int number = thread + n * TileOf::threads;
      const int tile_row = number / pairs_in_row;
      const int column = number % pairs_in_row * 2;
      const bool in = number < TileOf::size / 2 && column < TileOf::left + TileOf::nx + TileOf::halo &&
                      pending.in_row(y0 + tile_row - TileOf::halo);
      at[n] = in ? tile_row * TileOf::row + column : -1;
      phi_at[n] = (tile_row + Phi::below - TileOf::halo) * Phi::row + column;
    }
  }

  __device__ void correct(const PendingCorrection& pending, const Metrics& m, int k, real* u, real* v, real* w,
                          const real* phi, const real* phi_above) const {
    if (!pending.in_plane(k)) return;
    const Correction& a = pending.correction;
    const real response = a.response[k];
    const Metrics mk = m.seen_from(k);
    SLUICE_UNROLL
    for (int n = 0; n < count; ++n) {
      if (at[n] < 0) continue;
      const PhiAroundPair<order> around(phi + phi_at[n], phi_above + phi_at[n], Phi::row);
      Pair& us = *reinterpret_cast<Pair*>(u + at[n]);
      Pair& vs = *reinterpret_cast<Pair*>(v + at[n]);
      Pair& ws = *reinterpret_cast<Pair*>(w + at[n]);
      Pair star_u = us;
      Pair star_v = vs;
      Pair star_w = ws;
      const auto one = inner_cell<op::CellFor<order>>(0, 0, 0);
      const auto two = inner_cell<op::CellFor<order>>(1, 0, 0);
      us = {corrected_u<order>(star_u.first, a, around, one, mk, response),
            corrected_u<order>(star_u.second, a, around, two, mk, response)};
      vs = {corrected_v<order>(star_v.first, a, around, one, mk, response),
            corrected_v<order>(star_v.second, a, around, two, mk, response)};
      ws = {corrected_w(star_w.first, a, around, one, mk), corrected_w(star_w.second, a, around, two, mk)};
    }
  }
};

}  // namespace sluice::march
