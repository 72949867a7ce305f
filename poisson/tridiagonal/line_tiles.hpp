#pragma once
// How GPU thread blocks solve tiles, each of a few neighbouring lines, in shared memory: each value is read once and
// written once. One thread has one z block of a pack, that is of a complex line or a few neighbouring real ones. Tall
// lines are cut into parts: a tile is then held by a cluster of thread blocks, one for each part, which read from each
// other's shared memory what the reduced system carries from part to part. The steps of a thread are
//   load_table(), go_to(), read(), load(), then for one tile after another
//   prepare(), form_boundary(), sweep_up(), join_up(), turn(), sweep_down(), join_down(), solve(), go_to(), load(),
// with a barrier before prepare() and before each step that follows it. Where copies are not asynchronous, read() comes
// after every go_to(). Before join_up() and join_down(), which only tiles in parts need, it is a barrier of the
// cluster. The code is plain: it also runs on the host, thread after thread.
#include <cstddef>

#include "core/device/copy_ahead.hpp"
#include "core/device/registers.hpp"
#include "poisson/tridiagonal/near_block.hpp"
#include "poisson/tridiagonal/tile_layout.hpp"

namespace sluice {

/// For tiles that are not in parts.
struct NoPeers {
  static constexpr bool any = false;

  SLUICE_INLINE double* operator()(double* mine, int /*part*/) const { return mine; }
};

/// One thread's part of tiles. Peers::any says whether there are other parts; a call of Peers turns a pointer to the
/// shared memory of the thread's part into a pointer to the same place in the memory of another part.
template <class Lines, int Lanes, class Shape, class Peers>
class LineTile {
 public:
  using Tiles = LineTiles<Lines, Lanes>;

  /// `shared`: Tiles::shared_bytes for all threads of the part, aligned to 16 bytes.
  SLUICE_INLINE LineTile(const Tiles& tiles, int part, int thread, double* shared, Peers peers)
      : tiles_(tiles),
        peers_(peers),
        shared_(shared),
        part_(part),
        thread_(thread),
        in_row_(thread % tiles.width),
        block_(thread / tiles.width),
        count_(tiles.blocks(part)),
        below_(tiles.lines.blocks.bounds[tiles.first_block(part)]),
        rows_(
            nullptr, tiles.table_pitch(),
            Shape::of_block(tiles.lines.blocks, (Peers::any ? tiles.first_block(part) : 0) + (active() ? block_ : 0))) {
    rows_.table = table();
  }

  /// Loads what is the same for all tiles.
  SLUICE_INLINE void load_table() {
    if (!active()) return;
    rows_.load(tiles_.lines, in_row_, tiles_.width);
    if constexpr (Lines::components == 1) {
      load_equations();
      use_equations();
    }
    if constexpr (!Peers::any) {
      SLUICE_UNROLL
      for (int r = 0; r < Lanes; ++r) {
        if (block_ == 0) ups(-1)[r] = 0;
        if (block_ + 1 == count()) downs(count())[r] = 0;
      }
    }
  }

  /// Turns to a tile.
  SLUICE_INLINE void go_to(int tile) {
    place_ = tile * tiles_.row() + in_row_ * Lanes - tiles_.shift;
    const int inside = place_ > 0 ? place_ : 0;
    j_ = inside / static_cast<int>(tiles_.x.stride_y);
    lane_ = inside - j_ * static_cast<int>(tiles_.x.stride_y);
    lanes_ = active() ? lanes_at(place_, lane_, j_) : 0;
  }

  /// Loads the coefficients of the tile's lines, and the rows first and last.
  SLUICE_INLINE void load() {
    if (lanes_ == 0) return;
    if constexpr (Lines::components == 2) load_equations();
    first_ = fetch(own_rows(), lanes_);
    last_ = fetch(own_rows() + (shape().rows - 1) * tiles_.x.stride_z, lanes_);
  }

  /// Copies the rows between first and last of the tile, asynchronously if the GPU can. Then solve() does so for the
  /// tiles that follow the first one.
  SLUICE_INLINE void read() {
    if (!active()) return;
    const std::ptrdiff_t stride = tiles_.x.stride_z;
    const real* const row = tiles_.x.origin + (first_row() + 1) * stride;
    const int mine = in_row_ & (tiles_.pieces - 1);
    const int together = place_ - mine * Lanes;
    if (tiles_.pieces > 1 && together >= 0 && together + tiles_.pieces * Lanes <= tiles_.plane()) {
      copy_several_ahead<16, Shape::inside>([&](int m) { return shape().has(m) && (m & (tiles_.pieces - 1)) == mine; },
                                            [&](int m) { return row + together + m * stride; },
                                            [&](int m) { return inside() - mine * Lanes + m * tiles_.row(); });
      return;
    }
    if (lanes_ == 0) return;
    if (lanes_ == Lanes) {
      copy_several_ahead<sizeof(LanePack<Lanes>), Shape::inside>([&](int m) { return shape().has(m); },
                                                                 [&](int m) { return row + place_ + m * stride; },
                                                                 [&](int m) { return inside() + m * tiles_.row(); });
      return;
    }
    SLUICE_UNROLL
    for (int m = 0; m < Shape::inside; ++m) {
      if (shape().has(m)) copy_row(inside() + m * tiles_.row(), row + place_ + m * stride, lanes_);
    }
  }

  /// Computes what does not depend on the rows.
  SLUICE_INLINE void prepare() {
    if (!active()) return;
    rows_.set_shift(lanes_ == 0 ? -1 : tiles_.lines.shift(line(), j_));
    if constexpr (NearRows<Lines, Shape>::ahead) rows_.find_pivots();
    if (Lines::components == 2 && lanes_ > 0) use_equations();
  }

  SLUICE_INLINE void form_boundary() {
    if (!active()) return;
    const bool singular = is_singular();
    if (singular) shares()[block_] = moment();
    constexpr std::integral_constant<int, Lanes> n;
    NearChain<Lanes, Lines, Shape, NoStore> chain{rows_, inside(), device::not_ahead(tiles_.row()), {}};
    Eliminated<Lanes> sums;
    if constexpr (NearRows<Lines, Shape>::knows_from_first) {
      sums = eliminate_and_keep<Lanes>(chain, n);
    } else {
      sums = eliminate<Lanes>(chain, n);
    }
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
    for (int n = thread_; n < tiles_.row(); n += tiles_.threads()) {
      const int of = factor_of(n);
      double* const values = all_ups() + tiles_.row() + n;
      tell(upwards(), n, sweep(count(), factors() + of, products_of(n), pitch, values, tiles_.row()), count() - 1);
    }
  }

  /// Adds what comes from the parts below.
  SLUICE_INLINE void join_up() {
    if (!active()) return;
    double below[Lanes] = {};
    for (int part = 0; part < part_; ++part) hear(upwards(), part, below);
    SLUICE_UNROLL
    for (int r = 0; r < Lanes; ++r) {
      if (block_ == 0) ups(-1)[r] = below[r];
      ups(block_)[r] = multiply_add(product(), below[r], ups(block_)[r]);
    }
  }

  SLUICE_INLINE void turn() {
    if (!active()) return;
    if (in_row_ < tiles_.factors()) factors()[block_ * tiles_.factors() + in_row_] = equations_.down(upper());
    SLUICE_UNROLL
    for (int r = 0; r < Lanes; ++r)
      downs(block_)[r] = equations_.start_down(lower(), downs(block_)[r], ups(block_ - 1)[r], ups(block_)[r]);
  }

  SLUICE_INLINE void sweep_down() {
    const int pitch = tiles_.factors();
    const int highest = count() - 1;
    for (int n = thread_; n < tiles_.row(); n += tiles_.threads()) {
      double* const products = products_of(n);
      tell(downwards(), n,
           sweep(count(), factors() + factor_of(n) + highest * pitch,
                 products == nullptr ? nullptr : products + highest * pitch, -pitch,
                 all_downs() + n + highest * tiles_.row(), -tiles_.row()),
           0);
    }
  }

  /// Adds what comes from the parts above.
  SLUICE_INLINE void join_down() {
    if (!active()) return;
    double above[Lanes] = {};
    for (int part = tiles_.parts - 1; part > part_; --part) hear(downwards(), part, above);
    SLUICE_UNROLL
    for (int r = 0; r < Lanes; ++r) {
      if (block_ + 1 == count()) downs(count())[r] = above[r];
      downs(block_)[r] = multiply_add(product(), above[r], downs(block_)[r]);
    }
  }

  static constexpr int none = -1;

  /// Writes all rows, and starts to copy those of tile `next`, if there is such a tile, to the places that become free.
  /// If `pieces` is more than 1, or where copies are not asynchronous, `next` must be none.
  SLUICE_INLINE void solve(int next) {
    if (!active()) return;
    const int to_next = next * tiles_.row() + in_row_ * Lanes - tiles_.shift - place_;
    const int next_lanes = next != none && next < tiles_.tiles() ? lanes_at(place_ + to_next) : 0;
    real* const to = own_rows();
    const std::ptrdiff_t stride = device::not_ahead(tiles_.x.stride_z);
    if (lanes_ == 0) {
      for (int m = 0; m + 2 < shape().rows && next_lanes > 0; ++m)
        copy_row(inside() + m * tiles_.row(), to + (m + 1) * stride + to_next, next_lanes);
      return;
    }
    double first[Lanes], last[Lanes];
    SLUICE_UNROLL
    for (int r = 0; r < Lanes; ++r) {
      first[r] = downs(block_)[r];
      last[r] = equations_.last(upper(), ups(block_)[r], downs(block_ + 1)[r]);
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
    const int lanes = lanes_;
    const int pitch = device::not_ahead(tiles_.row());
    const auto store = [=, this](int m, const LanePack<Lanes>& pack) {
      write(to + (m + 1) * stride, pack, lanes);
      if (next_lanes > 0) copy_row(inside() + m * pitch, to + (m + 1) * stride + to_next, next_lanes);
    };
    constexpr std::integral_constant<int, Lanes> n;
    NearChain<Lanes, Lines, Shape, decltype(store)> chain{rows_, inside(), pitch, store};
    if constexpr (NearRows<Lines, Shape>::knows_from_first) {
      solve_kept_between<real, Lanes>(chain, n, first_, last_);
    } else {
      solve_between<real, Lanes>(chain, n, first_, last_);
    }
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

  SLUICE_INLINE static void copy_row(real* to, const real* from, int lanes) {
    if constexpr (Lanes > Lines::components) {
      if (lanes < Lanes) {
        for (int r = 0; r < lanes; ++r) copy_ahead<sizeof(real)>(to + r, from + r);
        return;
      }
    }
    copy_ahead<sizeof(LanePack<Lanes>)>(to, from);
  }

  /// How many numbers of the pack at `place` in a plane, at (lane, j), are part of a line.
  SLUICE_INLINE int lanes_at(int place, int lane, int j) const {
    const int left = place < 0 || j >= tiles_.x.rows ? 0 : tiles_.x.count - lane;
    return left < Lanes ? (left > 0 ? left : 0) : Lanes;
  }
  SLUICE_INLINE int lanes_at(int place) const {
    const int inside = place > 0 ? place : 0;
    const int j = inside / static_cast<int>(tiles_.x.stride_y);
    return lanes_at(place, inside - j * static_cast<int>(tiles_.x.stride_y), j);
  }

  /// Loads coefficients but computes nothing with them, so that the loads overlap with other work. use_equations() must
  /// follow.
  SLUICE_INLINE void load_equations() {
    const int block = (Peers::any ? tiles_.first_block(part_) : 0) + block_;
    equations_.of_first = tiles_.lines.reduced_at(inverse_of_first, block, line(), j_);
    equations_.of_last = tiles_.lines.reduced_at(inverse_of_last, block, line(), j_);
    equations_.across = tiles_.lines.reduced_at(coupling, block, line(), j_);
    equations_.back = tiles_.lines.symmetry[block];
  }
  SLUICE_INLINE void use_equations() { equations_.back *= equations_.across; }

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
    for (int part = 0; part < (Peers::any ? tiles_.parts : 1); ++part) {
      const double* const theirs = peers_(shares(), part);
      for (int block = 0; block < tiles_.blocks(part); ++block) sum += theirs[block];
    }
    return sum;
  }

  // Without other parts the compiler need not keep these in registers.
  SLUICE_INLINE int count() const { return Peers::any ? count_ : tiles_.lines.blocks.count; }
  SLUICE_INLINE int below() const { return Peers::any ? below_ : tiles_.lines.first_row; }

  /// Whether the thread has a block.
  SLUICE_INLINE bool active() const { return !Peers::any || block_ < count(); }

  SLUICE_INLINE bool is_singular() const { return is_singular_line(tiles_.lines, lane_, j_) && lanes_ > 0; }

  /// What a part leaves for others after a sweep: the last values, and the products of all its factors.
  struct ForOthers {
    double *values, *products;
  };

  /// Gives the other parts the value of number n of a row after a sweep, and the product of factors, which is stored
  /// for `block`.
  SLUICE_INLINE void tell(const ForOthers& others, int n, double value, int block) const {
    if constexpr (Peers::any) {
      others.values[n] = value;
      const double* const products = products_of(n);
      if (products != nullptr) others.products[factor_of(n)] = products[block * tiles_.factors()];
    }
  }
  /// Continues the thread's values through a part.
  SLUICE_INLINE void hear(const ForOthers& others, int part, double (&values)[Lanes]) const {
    const double* const theirs = peers_(others.values, part);
    const double factor = peers_(others.products, part)[factor_of(in_row_ * Lanes)];
    SLUICE_UNROLL
    for (int r = 0; r < Lanes; ++r) values[r] = multiply_add(factor, values[r], theirs[in_row_ * Lanes + r]);
  }

  // Coefficients of the first and the last row towards the other blocks.
  SLUICE_INLINE double lower() const { return rows_.lower(0); }
  SLUICE_INLINE double upper() const { return rows_.upper(shape().rows - 1); }

  SLUICE_INLINE const Shape& shape() const { return rows_.shape; }
  /// The block's first row in the array.
  SLUICE_INLINE int first_row() const { return shape().first - tiles_.lines.first_row; }
  SLUICE_INLINE int line() const { return lane_ / Lines::components; }
  SLUICE_INLINE real* own_rows() const { return tiles_.x.origin + place_ + first_row() * tiles_.x.stride_z; }

  // Shared memory: values going up, with a row from below; values going down, with a row from above; factors, shares of
  // the mean, the table; products; rows inside blocks.
  SLUICE_INLINE double* all_ups() const { return shared_; }
  SLUICE_INLINE double* all_downs() const { return all_ups() + (tiles_.max_blocks + 1) * tiles_.row(); }
  SLUICE_INLINE double* ups(int block) const { return all_ups() + (block + 1) * tiles_.row() + in_row_ * Lanes; }
  SLUICE_INLINE double* downs(int block) const { return all_downs() + block * tiles_.row() + in_row_ * Lanes; }
  SLUICE_INLINE double* factors() const { return all_downs() + (tiles_.max_blocks + 1) * tiles_.row(); }
  SLUICE_INLINE double* shares() const { return factors() + tiles_.max_blocks * tiles_.factors(); }
  SLUICE_INLINE double* tables() const { return shares() + tiles_.shares(); }
  SLUICE_INLINE double* table() const { return tables() + shape().first - below() + block_; }
  SLUICE_INLINE double* products() const { return tables() + Lines::columns * tiles_.table_pitch(); }
  SLUICE_INLINE double* products_of_parts() const { return products() + tiles_.max_blocks * tiles_.factors(); }
  /// What other parts read is at the same place in all parts: in the row for values from above, which join_down()
  /// writes after the others have read it, and in that for values from below, which turn() was the last to read.
  SLUICE_INLINE ForOthers upwards() const {
    return {all_downs() + tiles_.max_blocks * tiles_.row(), products_of_parts()};
  }
  SLUICE_INLINE ForOthers downwards() const { return {all_ups(), products_of_parts() + tiles_.factors()}; }
  SLUICE_INLINE real* inside() const {
    real* const rows = reinterpret_cast<real*>(shared_ + tiles_.doubles());
    return rows + (shape().first - below() - 2 * block_) * tiles_.row() + in_row_ * Lanes;
  }
  /// Index of a block's factor for number n of a row.
  SLUICE_INLINE int factor_of(int n) const { return Lines::components == 2 ? n / Lanes : 0; }
  /// The block's product, after a sweep.
  SLUICE_INLINE double product() const { return products()[block_ * tiles_.factors() + factor_of(in_row_ * Lanes)]; }
  /// Where the sweep of number n of a row stores products; null: nowhere.
  SLUICE_INLINE double* products_of(int n) const {
    const bool leads = Lines::components == 2 ? n % Lanes == 0 : n == 0;
    return Peers::any && leads ? products() + factor_of(n) : nullptr;
  }

  const Tiles& tiles_;
  Peers peers_;
  double* shared_;
  int part_, thread_, in_row_, block_;
  int count_;                               ///< blocks of the part
  int below_;                               ///< first row of the part
  int place_ = 0;                           ///< position of the pack in a plane
  int lane_ = 0, j_ = 0;                    ///< its lane in its row, and the row
  int lanes_ = 0;                           ///< how many of its numbers are part of a line
  LanePack<Lanes> first_ = {}, last_ = {};  ///< rows first and last
  SeparateBlock equations_;
  NearRows<Lines, Shape> rows_;
};

}  // namespace sluice
