#pragma once
// What LineTile (line_tiles.hpp) works on: where the tiles of lines lie, in memory and in shared memory, and the
// elimination of the reduced system that the threads of a tile share. Plain code, which also runs on the host.
#include <cstddef>

#include "core/device/parallel_for.hpp"
#include "core/device/tuning.hpp"
#include "poisson/tridiagonal/line_plan.hpp"
#include "poisson/tridiagonal/lines.hpp"
#include "poisson/tridiagonal/reduced_system.hpp"

namespace sluice {

/// A block's two equations of the reduced system, eliminated as far as possible without the other blocks. What
/// solve_between does to the values v of last rows (upwards) and w of first rows (downwards) is then one product and
/// one sum per block,
///   v_n = up() v_{n-1} + start_up,    w_n = down() w_{n+1} + start_down.
/// lower, upper: coefficients of the first and the last row towards the blocks below and above.
struct SeparateBlock : BoundaryRows {
  SLUICE_INLINE double up(double lower) const { return (back * of_last) * (lower * of_first); }
  SLUICE_INLINE double down(double upper) const { return (across * of_first) * (upper * of_last); }
  SLUICE_INLINE double start_up(double rhs_first, double rhs_last) const {
    return multiply_add(-back, rhs_first * of_first, rhs_last) * of_last;
  }
  SLUICE_INLINE double start_down(double lower, double rhs_first, double v_below, double v) const {
    return multiply_add(-across * of_first, v, multiply_add(-lower, v_below, rhs_first) * of_first);
  }
  SLUICE_INLINE double last(double upper, double v, double w_above) const {
    return multiply_add(-upper * of_last, w_above, v);
  }
};

/// values_n = factor_n values_{n-1} + values_n, n from 0 to `count` - 1, as if values_{-1} were 0; with negative
/// pitches, from the last to the first. Reads a few values at a time, so that the reads overlap. `products`, if not
/// null, receives the products of factors 0 to n, by which values_{-1} contributes to values_n.
SLUICE_INLINE double sweep(int count, const double* factors, double* products, int factor_pitch, double* values,
                           int pitch) {
  constexpr int group = 4;
  double value = 0;
  double product = 1;
  for (int start = 0; start < count; start += group) {
    double factor[group], own[group];
    SLUICE_UNROLL
    for (int n = 0; n < group; ++n) {
      const int at = start + n < count ? start + n : count - 1;
      factor[n] = factors[at * factor_pitch];
      own[n] = values[at * pitch];
    }
    SLUICE_UNROLL
    for (int n = 0; n < group; ++n) {
      if (start + n >= count) continue;
      value = multiply_add(factor[n], value, own[n]);
      values[(start + n) * pitch] = value;
      if (products == nullptr) continue;
      product *= factor[n];
      products[(start + n) * factor_pitch] = product;
    }
  }
  return value;
}

/// Lines in tiles of `width` packs of `Lanes` neighbouring real numbers. Shared by all threads.
template <class Lines, int Lanes>
struct LineTiles {
  Lines lines;
  LineArray x;
  int width = 0;
  int shift = 0;   ///< real numbers by which the first tile starts before x, so that tiles start at memory sectors
  int pieces = 0;  ///< packs copied in one access of 16 bytes, a power of two; 0: none. More than 1: by several threads
  int parts = 1;   ///< thread blocks of a tile
  int max_blocks = 0, max_rows = 0, max_inner_rows = 0;  ///< as in TileParts

  static constexpr int sector = device::memory_sector;
  static constexpr int widest = tuning::lines::tile_bytes / (Lanes * static_cast<int>(sizeof(real)));
  static constexpr int narrowest = 2;

  void set_parts(const TileParts& cut) {
    parts = cut.count;
    max_blocks = cut.max_blocks;
    max_rows = cut.max_rows;
    max_inner_rows = cut.max_inner_rows;
  }
  /// Part n has the z blocks [first_block(n), first_block(n + 1)).
  SLUICE_INLINE int first_block(int part) const { return first_block_of_part(part, parts, lines.blocks.count); }
  SLUICE_INLINE int blocks(int part) const { return first_block(part + 1) - first_block(part); }
  SLUICE_INLINE int row() const { return width * Lanes; }
  /// Real numbers of a plane, gaps between rows included.
  SLUICE_INLINE int plane() const { return static_cast<int>((x.rows - 1) * x.stride_y) + x.count; }
  SLUICE_INLINE int tiles() const { return (plane() + shift + row() - 1) / row(); }

  SLUICE_INLINE int threads() const { return width * max_blocks; }

  /// Doubles in the shared memory of a part. Per block: two rows of values, factors of its lines and, of complex lines,
  /// a share of the mean. A row of values from the part below and one from above. Per row: its table entries, with a
  /// gap after each block, so that threads of two blocks read from different banks. Between parts: products of factors,
  /// of each block and of all of them, upwards and downwards.
  SLUICE_INLINE int factors() const { return Lines::components == 2 ? width : 1; }
  SLUICE_INLINE int table_pitch() const { return max_rows + max_blocks; }
  SLUICE_INLINE int shares() const { return Lines::components == 2 ? max_blocks : 0; }
  SLUICE_INLINE int doubles() const {
    const int between_parts = parts > 1 ? (max_blocks + 2) * factors() : 0;
    const int values = (max_blocks + 1) * 2 * row();
    return (values + max_blocks * factors() + shares() + Lines::columns * table_pitch() + between_parts + 1) / 2 * 2;
  }
  /// Bytes of shared memory: these doubles and the rows inside blocks.
  std::size_t shared_bytes() const {
    return static_cast<std::size_t>(doubles()) * sizeof(double) +
           static_cast<std::size_t>(max_inner_rows * row()) * sizeof(real);
  }
};

}  // namespace sluice
