#pragma once
// How a GPU's thread block solves a tile, a few neighbouring lines, in shared memory: each value is read once and
// written once. One thread has one z block of a pack, that is of a complex line or a few neighbouring real ones. Its
// steps are
//   read(), prepare(), form_boundary(), sweep_up(), turn(), sweep_down(), solve(),
// with a barrier before each. Plain code, which also runs on the host, thread after thread.
#include <cstddef>

#include "core/device/copy_ahead.hpp"
#include "poisson/tridiagonal/near_block.hpp"
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
    return fma(-back, rhs_first * of_first, rhs_last) * of_last;
  }
  SLUICE_INLINE double start_down(double lower, double rhs_first, double v_below, double v) const {
    return fma(-across * of_first, v, fma(-lower, v_below, rhs_first) * of_first);
  }
  SLUICE_INLINE double last(double upper, double v, double w_above) const { return fma(-upper * of_last, w_above, v); }
};

/// values_n = factor_n values_{n-1} + values_n, n from 1 to `count` - 1; with negative pitches, from the last to the
/// first. Reads a few values at a time, so that the reads overlap.
SLUICE_INLINE void sweep(int count, const double* factors, int factor_pitch, double* values, int pitch) {
  constexpr int group = 4;
  double value = values[0];
  for (int start = 1; start < count; start += group) {
    double factor[group], own[group];
    SLUICE_UNROLL
    for (int n = 0; n < group; ++n) {
      const int at = start + n < count ? start + n : count - 1;
      factor[n] = factors[at * factor_pitch];
      own[n] = values[at * pitch];
    }
    SLUICE_UNROLL
    for (int n = 0; n < group; ++n) {
      value = fma(factor[n], value, own[n]);
      if (start + n < count) values[(start + n) * pitch] = value;
    }
  }
}

/// Lines in tiles of `width` packs of `Lanes` neighbouring real numbers. Shared by all threads.
template <class Lines, int Lanes>
struct LineTiles {
  Lines lines;
  LineArray x;
  int width = 0;
  int shift = 0;   ///< real numbers by which the first tile starts before x, so that tiles start at memory sectors
  int pieces = 0;  ///< packs copied in one access of 16 bytes, a power of two; 0: none

  static constexpr int sector = 32;  ///< bytes
  static constexpr int widest = 256 / (Lanes * static_cast<int>(sizeof(real)));
  static constexpr int narrowest = 2;

  SLUICE_INLINE int blocks() const { return lines.blocks.count; }
  SLUICE_INLINE int row() const { return width * Lanes; }
  /// Real numbers of a plane, gaps between rows included.
  SLUICE_INLINE int plane() const { return static_cast<int>((x.rows - 1) * x.stride_y) + x.count; }
  int tiles() const { return (plane() + shift + row() - 1) / row(); }

  SLUICE_INLINE int threads() const { return width * blocks(); }

  /// Doubles in shared memory. Per block: two rows of values, factors of its lines and a share of the mean. Per row:
  /// its table entries, with a gap after each block, so that threads of two blocks read from different banks.
  SLUICE_INLINE int factors() const { return Lines::components == 2 ? width : 1; }
  SLUICE_INLINE int table_pitch() const { return lines.nz + blocks(); }
  SLUICE_INLINE int doubles() const {
    return (blocks() * (2 * row() + factors() + 1) + Lines::columns * table_pitch() + 1) / 2 * 2;
  }
  /// Bytes of shared memory: these doubles and the rows inside blocks.
  std::size_t shared_bytes() const {
    return static_cast<std::size_t>(doubles()) * sizeof(double) +
           static_cast<std::size_t>((lines.nz - 2 * blocks()) * row()) * sizeof(real);
  }
};

/// One thread's part of a tile.
template <class Lines, int Lanes, class Shape>
class LineTile {
 public:
  using Tiles = LineTiles<Lines, Lanes>;

  /// `shared`: Tiles::shared_bytes for all threads of the tile, aligned to 16 bytes.
  SLUICE_INLINE LineTile(const Tiles& tiles, int tile, int thread, double* shared)
      : tiles_(tiles),
        shared_(shared),
        thread_(thread),
        in_row_(thread % tiles.width),
        block_(thread / tiles.width),
        rows_(table(), tiles.table_pitch(), Shape::of_block(tiles.lines.blocks, block_)) {
    place_ = tile * tiles.row() + in_row_ * Lanes - tiles.shift;
    const int inside = place_ > 0 ? place_ : 0;
    j_ = inside / static_cast<int>(tiles.x.stride_y);
    lane_ = inside - j_ * static_cast<int>(tiles.x.stride_y);
    const int left = place_ < 0 || j_ >= tiles.x.rows ? 0 : tiles.x.count - lane_;
    lanes_ = left < Lanes ? (left > 0 ? left : 0) : Lanes;
  }

  /// Loads the table, the block's rows and coefficients; on a GPU the rows are copied asynchronously.
  SLUICE_INLINE void read() {
    read_inside();
    rows_.load(tiles_.lines, in_row_, tiles_.width);
    if (Lines::components == 1 || lanes_ > 0)
      static_cast<BoundaryRows&>(equations_) = boundary_rows(tiles_.lines, block_, line(), j_);
    if (lanes_ == 0) return;
    first_ = fetch(own_rows(), lanes_);
    last_ = fetch(own_rows() + (shape().rows - 1) * tiles_.x.stride_z, lanes_);
  }

  /// Computes what does not depend on the rows.
  SLUICE_INLINE void prepare() {
    rows_.set_shift(lanes_ == 0 ? -1 : tiles_.lines.shift(line(), j_));
    if constexpr (NearRows<Lines, Shape>::ahead) rows_.find_pivots();
  }

  SLUICE_INLINE void form_boundary() {
    const bool singular = is_singular();
    if (singular) shares()[block_] = moment();
    NearChain<Lanes, Lines, Shape, NoStore> chain{rows_, inside(), tiles_.row(), {}};
    const Eliminated<Lanes> sums = eliminate<Lanes>(chain, std::integral_constant<int, Lanes>{});
    double first[Lanes], last[Lanes];
    SLUICE_UNROLL
    for (int r = 0; r < Lanes; ++r) {
      first[r] = sums.below(r, rows_.upper(0), first_[r]);
      last[r] = sums.above(r, rows_.lower(shape().rows - 1), last_[r]);
    }
    if (Lines::components == 2 && singular) first[Lanes - 1] = last[Lanes - 1] = 0;  // the singular line is real
    if (in_row_ < tiles_.factors()) factors()[block_ * tiles_.factors() + in_row_] = equations_.up(lower());
    SLUICE_UNROLL
    for (int r = 0; r < Lanes; ++r) {
      ups(block_)[r] = equations_.start_up(first[r], last[r]);
      downs(block_)[r] = first[r];
    }
  }

  /// Each thread handles single real numbers of a row, through all blocks.
  SLUICE_INLINE void sweep_up() {
    const int pitch = tiles_.factors();
    for (int n = thread_; n < tiles_.row(); n += tiles_.threads())
      sweep(tiles_.blocks(), factors() + factor_of(n), pitch, all_ups() + n, tiles_.row());
  }

  SLUICE_INLINE void turn() {
    if (in_row_ < tiles_.factors()) factors()[block_ * tiles_.factors() + in_row_] = equations_.down(upper());
    SLUICE_UNROLL
    for (int r = 0; r < Lanes; ++r) {
      const double below = block_ > 0 ? ups(block_ - 1)[r] : 0;
      downs(block_)[r] = equations_.start_down(lower(), downs(block_)[r], below, ups(block_)[r]);
    }
  }

  SLUICE_INLINE void sweep_down() {
    const int pitch = tiles_.factors();
    const int highest = tiles_.blocks() - 1;
    for (int n = thread_; n < tiles_.row(); n += tiles_.threads())
      sweep(tiles_.blocks(), factors() + factor_of(n) + highest * pitch, -pitch,
            all_downs() + n + highest * tiles_.row(), -tiles_.row());
  }

  /// Writes all rows.
  SLUICE_INLINE void solve() {
    if (lanes_ == 0) return;
    const bool highest = block_ + 1 == tiles_.blocks();
    double first[Lanes], last[Lanes];
    SLUICE_UNROLL
    for (int r = 0; r < Lanes; ++r) {
      first[r] = downs(block_)[r];
      last[r] = equations_.last(upper(), ups(block_)[r], highest ? 0 : downs(block_ + 1)[r]);
    }
    if (is_singular()) {
      const double mean = sum_of_shares();
      first[0] -= mean;
      last[0] -= mean;
    }
    SLUICE_UNROLL
    for (int r = 0; r < Lanes; ++r) {
      first_.lane[r] = static_cast<real>(first[r]);
      last_.lane[r] = static_cast<real>(last[r]);
    }
    real* const to = own_rows();
    const std::ptrdiff_t stride = tiles_.x.stride_z;
    const int lanes = lanes_;
    const auto store = [=](int m, const LanePack<Lanes>& pack) { write(to + (m + 1) * stride, pack, lanes); };
    NearChain<Lanes, Lines, Shape, decltype(store)> chain{rows_, inside(), tiles_.row(), store};
    solve_between<real, Lanes>(chain, std::integral_constant<int, Lanes>{}, first_, last_);
    write(to, first_, lanes);
    write(to + (shape().rows - 1) * stride, last_, lanes);
  }

 private:
  SLUICE_INLINE static void write(real* to, const LanePack<Lanes>& pack, int lanes) {
    if constexpr (Lanes > Lines::components) {  // otherwise packs are complete or empty
      if (lanes < Lanes) {
        SLUICE_UNROLL
        for (int r = 0; r < Lanes; ++r) {
          if (r < lanes) to[r] = pack.lane[r];
        }
        return;
      }
    }
    pack_at<Lanes>(to) = pack;
  }

  SLUICE_INLINE static LanePack<Lanes> fetch(const real* from, int lanes) {
    if constexpr (Lanes > Lines::components) {
      if (lanes < Lanes) {
        LanePack<Lanes> pack;
        SLUICE_UNROLL
        for (int r = 0; r < Lanes; ++r) pack.lane[r] = r < lanes ? from[r] : 0;
        return pack;
      }
    }
    return pack_at<Lanes>(from);
  }

  /// Copies the rows between first and last. If `pieces` packs are copied together, their threads share the rows.
  SLUICE_INLINE void read_inside() {
    const std::ptrdiff_t stride = tiles_.x.stride_z;
    const real* const row = tiles_.x.origin + (shape().first + 1) * stride;
    const int mine = in_row_ & (tiles_.pieces - 1);
    const int together = place_ - mine * Lanes;
    if (tiles_.pieces > 0 && together >= 0 && together + tiles_.pieces * Lanes <= tiles_.plane()) {
      SLUICE_UNROLL
      for (int m = 0; m < Shape::inside; ++m) {
        if (shape().has(m) && (m & (tiles_.pieces - 1)) == mine)
          copy_ahead<16>(inside() - mine * Lanes + m * tiles_.row(), row + together + m * stride);
      }
      return;
    }
    for (int m = 0; m + 2 < shape().rows; ++m) {
      for (int r = 0; r < lanes_; ++r)
        copy_ahead<sizeof(real)>(inside() + m * tiles_.row() + r, row + place_ + r + m * stride);
    }
  }

  /// The block's share of the mean of the singular line's solution.
  SLUICE_INLINE double moment() const {
    if constexpr (Lines::components == 2) {
      const double* const moment = tiles_.lines.moment;
      const double ends = moment[shape().first] * first_.lane[0] + moment[shape().last()] * last_.lane[0];
      return ends + moment_of_block(tiles_.lines, shape().first + 1, shape().last(), {inside(), tiles_.row()});
    } else {
      return 0;
    }
  }

  SLUICE_INLINE double sum_of_shares() const {
    double sum = 0;
    for (int block = 0; block < tiles_.blocks(); ++block) sum += shares()[block];
    return sum;
  }

  SLUICE_INLINE bool is_singular() const { return is_singular_line(tiles_.lines, lane_, j_) && lanes_ > 0; }

  // Coefficients of the first and the last row towards the other blocks.
  SLUICE_INLINE double lower() const { return rows_.lower(0); }
  SLUICE_INLINE double upper() const { return rows_.upper(shape().rows - 1); }

  SLUICE_INLINE const Shape& shape() const { return rows_.shape; }
  SLUICE_INLINE int line() const { return lane_ / Lines::components; }
  SLUICE_INLINE real* own_rows() const { return tiles_.x.origin + place_ + shape().first * tiles_.x.stride_z; }

  // Shared memory: values going up, values going down, factors, shares of the mean, the table, rows inside blocks.
  SLUICE_INLINE double* all_ups() const { return shared_; }
  SLUICE_INLINE double* all_downs() const { return shared_ + tiles_.blocks() * tiles_.row(); }
  SLUICE_INLINE double* ups(int block) const { return all_ups() + block * tiles_.row() + in_row_ * Lanes; }
  SLUICE_INLINE double* downs(int block) const { return all_downs() + block * tiles_.row() + in_row_ * Lanes; }
  SLUICE_INLINE double* factors() const { return shared_ + 2 * tiles_.blocks() * tiles_.row(); }
  SLUICE_INLINE double* shares() const { return factors() + tiles_.blocks() * tiles_.factors(); }
  SLUICE_INLINE double* table() const {
    return shares() + tiles_.blocks() + tiles_.lines.blocks.bounds[block_] + block_;
  }
  SLUICE_INLINE real* inside() const {
    real* const rows = reinterpret_cast<real*>(shared_ + tiles_.doubles());
    return rows + (shape().first - 2 * block_) * tiles_.row() + in_row_ * Lanes;
  }
  /// Index of a block's factor for number n of a row.
  SLUICE_INLINE int factor_of(int n) const { return Lines::components == 2 ? n / Lanes : 0; }

  const Tiles& tiles_;
  double* shared_;
  int thread_, in_row_, block_;
  int place_;                               ///< position of the pack in a plane
  int lane_, j_;                            ///< its lane in its row, and the row
  int lanes_;                               ///< how many of its numbers are part of a line
  LanePack<Lanes> first_ = {}, last_ = {};  ///< rows first and last
  SeparateBlock equations_;
  NearRows<Lines, Shape> rows_;
};

}  // namespace sluice
