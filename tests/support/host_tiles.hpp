#pragma once
// What the threads of a GPU do to tiles of lines, run on the host.
#include <algorithm>
#include <cmath>
#include <vector>

#include "poisson/tridiagonal/line_tiles.hpp"

namespace sluice::test {

/// How a test lays its tiles out.
struct TileForm {
  int width = 4;
  int shift = 0;
  int pieces = 0;
  int parts = 1;
  int at_a_time = 1000;  ///< tiles; each of these thread blocks, or clusters of them, solves several
};

/// Shared memory of the parts of a tile, which lie one after another.
struct PeersOnHost {
  static constexpr bool any = true;

  std::ptrdiff_t apart;
  int mine;

  double* operator()(double* place, int part) const { return place + (part - mine) * apart; }
};

/// All tiles, one after another: each step for all threads of all parts before the next.
template <class Tile, class Tiles, class PeersOf>
void solve_all(const Tiles& tiles, int at_a_time, const PeersOf& peers_of) {
  const std::size_t doubles = (tiles.shared_bytes() / sizeof(double) + 3) / 2 * 2;
  for (int start = 0; start < at_a_time; ++start) {
    std::vector<double> shared(doubles * static_cast<std::size_t>(tiles.parts), std::nan(""));
    std::vector<Tile> threads;
    for (int part = 0; part < tiles.parts; ++part) {
      double* const own = shared.data() + static_cast<std::ptrdiff_t>(doubles) * part;
      for (int thread = 0; thread < tiles.threads(); ++thread)
        threads.emplace_back(tiles, part, thread, own, peers_of(static_cast<std::ptrdiff_t>(doubles), part));
    }
    const auto all = [&threads](auto step, auto... arguments) {
      for (Tile& thread : threads) (thread.*step)(arguments...);
    };
    all(&Tile::go_to, start);
    all(&Tile::read);
    all(&Tile::load_table);
    all(&Tile::load);
    for (int tile = start; tile < tiles.tiles(); tile += at_a_time) {
      const int next = tile + at_a_time;
      all(&Tile::prepare);
      all(&Tile::form_boundary);
      all(&Tile::sweep_up);
      if (tiles.parts > 1) all(&Tile::join_up);
      all(&Tile::turn);
      all(&Tile::sweep_down);
      if (tiles.parts > 1) all(&Tile::join_down);
      all(&Tile::solve, next < tiles.tiles() ? next : Tile::none);
      all(&Tile::go_to, next);
      all(&Tile::load);
    }
  }
}

/// Solves `lines`, which are in `array`, as a kernel for blocks of this shape does.
template <int Lanes, class Shape, class Lines>
void solve_in_tiles(const Lines& lines, const LineArray& array, const TileForm& form) {
  LineTiles<Lines, Lanes> tiles{lines, array, form.width, form.shift, form.pieces};
  const BlockBounds& blocks = lines.blocks;
  std::vector<std::int64_t> bounds;
  for (int n = 0; n <= blocks.count; ++n) bounds.push_back(blocks.bounds[n] - blocks.bounds[0]);
  tiles.set_parts(cut_into_parts(ZBlocks(bounds), std::min(form.parts, blocks.count)));
  const int at_a_time = std::min(form.at_a_time, tiles.tiles());
  if (tiles.parts > 1) {
    solve_all<LineTile<Lines, Lanes, Shape, PeersOnHost>>(tiles, at_a_time, [](std::ptrdiff_t apart, int part) {
      return PeersOnHost{apart, part};
    });
  } else {
    solve_all<LineTile<Lines, Lanes, Shape, NoPeers>>(tiles, at_a_time, [](std::ptrdiff_t, int) { return NoPeers(); });
  }
}

}  // namespace sluice::test
