#pragma once
// Corrects the velocity in the shared memory of a GPU's thread block: tiles of planes around the one that the block
// computes. TileOf: the part of a plane that it keeps, as march::Tile of solver/momentum/march_tiles.hpp.

#include "core/device/copy_ahead.hpp"
#include "solver/correction/velocity.hpp"

namespace sluice::march {

/// Tiles of phi while plane k is computed: planes k + 1 to k + 3, and k + 4 if it is copied meanwhile.
inline constexpr int phi_slots = copies_are_asynchronous ? 4 : 3;

/// Where a ring of tiles holds plane k, -2 or higher: its offset from the first tile.
template <int count, int size>
__device__ int place(int k) {
  if constexpr ((count & (count - 1)) == 0) return (k & (count - 1)) * size;
  static_assert(count > 2);
  return static_cast<int>(static_cast<unsigned>(k + count) % static_cast<unsigned>(count)) * size;
}

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

/// Copies one thread's share of a tile of phi.
template <class TileOf>
struct PhiCopier {
  using Phi = PhiTile<TileOf>;
  static constexpr int count = Phi::pairs_of_thread;
  View3<const real> phi;
  int last_plane;   ///< of phi, its halo included; the first one is -1
  int from[count];  ///< offset in a plane

  __device__ PhiCopier(const VelocityToCorrect& velocity, int thread, int x0, int y0, int nx)
      : phi(velocity.phi()), last_plane(velocity.left().nz) {
    SLUICE_UNROLL
    for (int n = 0; n < count; ++n) {
      const int number = thread + n * TileOf::threads;
      int i = x0 - TileOf::left + number % Phi::pairs_in_row * 2;
      i = i < 0 ? i + nx : i >= nx ? i - nx : i;  // periodic
      i = i < nx ? i : 0;                         // not used
      // Rows beyond the halo of phi belong to cells that need no correction.
      const int j = min(max(y0 - Phi::below + number / Phi::pairs_in_row, -1), velocity.left().ny);
      from[n] = i + j * static_cast<int>(phi.stride_y);
    }
  }

  /// Calls do_pair(n, from, to) for the pairs of plane k that this thread copies. tile: where the plane belongs.
  template <class DoPair>
  __device__ void for_pairs(int k, real* tile, int thread, const DoPair& do_pair) const {
    const real* const plane = phi.origin + max(min(k, last_plane), -1) * phi.stride_z;
    SLUICE_UNROLL
    for (int n = 0; n < count; ++n) {
      const int number = thread + n * TileOf::threads;
      if (number < Phi::size / 2) do_pair(n, plane + from[n], tile + 2 * number);
    }
  }
};

/// phi around two neighbouring cells, held in registers; f(i, j, k) with i, j, k relative to the first one.
template <Order order>
struct PhiAroundPair {
  static constexpr bool wide = points_beside(order) == 2;
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

/// The tiles of u, v, w and p of one plane.
struct TilesOfPlane {
  real *u, *v, *w, *p;
};

/// Turns u* into u, and the old p into the new one, in the tiles of one plane: one thread's share, the same pairs of
/// every tile.
template <Order order, class TileOf, bool with_pressure>
struct TileCorrector {
  using Phi = PhiTile<TileOf>;
  static constexpr int pairs_in_row = TileOf::row / 2;
  static constexpr int count = (TileOf::size / 2 + TileOf::threads - 1) / TileOf::threads;
  static constexpr bool rows_alike = Phi::row == TileOf::row;
  bool in[count];     ///< whether the pair needs a correction
  int phi_at[count];  ///< offset in a tile of phi, if rows are not alike

  __device__ TileCorrector(const PendingCorrection& left, int thread, int y0) {
    SLUICE_UNROLL
    for (int n = 0; n < count; ++n) {
      const int number = thread + n * TileOf::threads;
      const int tile_row = number / pairs_in_row;
      const int column = number % pairs_in_row * 2;
      in[n] = number < TileOf::size / 2 && column < TileOf::left + TileOf::nx + TileOf::halo &&
              left.in_row(y0 + tile_row - TileOf::halo);
      phi_at[n] = (tile_row + Phi::below - TileOf::halo) * Phi::row + column;
    }
  }

  /// tiles: of plane k; phi: the first of its tiles. Column: provides the weights, and the response and
  /// the metrics of a plane.
  template <class Column>
  __device__ void correct(const PendingCorrection& left, const Column& column, const Metrics& metrics, int k,
                          int thread, const TilesOfPlane& tiles, const real* phi) const {
    if (!left.in_plane(k)) return;
    const CorrectionWeights weights = column.weights(left.numbers);
    const real response = column.response(k);
    const auto m = column.around(metrics, k);
    SLUICE_UNROLL
    for (int n = 0; n < count; ++n) {
      if (!in[n]) continue;
      const int at = 2 * (thread + n * TileOf::threads);
      const int at_phi = rows_alike ? at + (Phi::below - TileOf::halo) * Phi::row : phi_at[n];
      const auto phi_of = [&](int plane) { return phi + place<phi_slots, Phi::size>(plane) + at_phi; };
      const PhiAroundPair<order> around(phi_of(k), phi_of(k + 1), phi_of(k - 1), Phi::row);
      Pair& us = *reinterpret_cast<Pair*>(tiles.u + at);
      Pair& vs = *reinterpret_cast<Pair*>(tiles.v + at);
      Pair& ws = *reinterpret_cast<Pair*>(tiles.w + at);
      Pair star_u = us;
      Pair star_v = vs;
      Pair star_w = ws;
      const auto one = inner_cell<op::CellFor<order>>(0, 0, 0);
      const auto two = inner_cell<op::CellFor<order>>(1, 0, 0);
      us = {corrected_u<order>(star_u.first, weights, around, one, m, response),
            corrected_u<order>(star_u.second, weights, around, two, m, response)};
      vs = {corrected_v<order>(star_v.first, weights, around, one, m, response),
            corrected_v<order>(star_v.second, weights, around, two, m, response)};
      ws = {corrected_w(star_w.first, weights, around, one, m), corrected_w(star_w.second, weights, around, two, m)};
      if constexpr (with_pressure) {
        if (!left.with_pressure || at < TileOf::before_p || at >= TileOf::before_p + TileOf::size_of_p) continue;
        Pair& ps = *reinterpret_cast<Pair*>(tiles.p + at - TileOf::before_p);
        ps = {updated_pressure(ps.first, weights, around, one, m),
              updated_pressure(ps.second, weights, around, two, m)};
      }
    }
  }
};

}  // namespace sluice::march
