#pragma once
// A block of a pack of lines that one GPU thread holds in shared memory ("near"): unrolled loops of constant length,
// pivots in registers. Plain code, which also runs on the host.
#include <cstdint>

#include "core/device/copy_ahead.hpp"
#include "core/device/registers.hpp"
#include "core/device/tuning.hpp"
#include "core/support/error.hpp"
#include "poisson/tridiagonal/line_plan.hpp"
#include "poisson/tridiagonal/lines.hpp"
#include "poisson/tridiagonal/sweeps.hpp"

namespace sluice {

/// A block of `MinRows` to `Rows` rows, for loops of constant length that test each row from `MinRows` on.
template <int Rows, int MinRows>
struct BlockShape {
  static_assert(MinRows >= 2 && Rows >= MinRows && Rows > 2);
  static constexpr int inside = Rows - 2;  ///< room for rows between first and last

  int first = 0;  ///< row of the grid
  int rows = 0;

  SLUICE_INLINE static BlockShape of_block(const BlockBounds& blocks, int n) {
    BlockShape shape;
    shape.first = blocks.bounds[n];
    shape.rows = blocks.bounds[n + 1] - shape.first;
    return shape;
  }

  SLUICE_INLINE int last() const { return first + rows - 1; }
  /// Whether the block has the m-th row between its first and last.
  SLUICE_INLINE bool has(int m) const { return m + 2 < MinRows || m + 2 < rows; }
};

/// Calls action with the smallest shape that fits blocks of at most `longest` rows. Block lengths differ by at most one
/// row, so each block has at least as many rows as the next smaller shape holds.
template <class Action>
void with_shape(std::int64_t longest, const Action& action) {
  if (longest <= 8) return action(BlockShape<8, 2>());
  if (longest <= 12) return action(BlockShape<12, 8>());
  if (longest <= 16) return action(BlockShape<16, 12>());
  if (longest <= 17) return action(BlockShape<17, 16>());
  if (longest <= 20) return action(BlockShape<20, 17>());
  if (longest <= 24) return action(BlockShape<24, 20>());
  if (longest <= 28) return action(BlockShape<28, 24>());
  SLUICE_REQUIRE(longest <= tuning::lines::max_rows_of_thread, "a block that is too long for a thread");
  action(BlockShape<32, 28>());
}

/// Coefficients of an unknown, the same for all lanes.
struct ChainRow {
  double of_lower = 0, of_upper = 0, of_inverse = 0, of_weight = 0, of_from_first = 0;

  SLUICE_INLINE double lower(int /*r*/) const { return of_lower; }
  SLUICE_INLINE double upper(int /*r*/) const { return of_upper; }
  SLUICE_INLINE double inverse(int /*r*/) const { return of_inverse; }
  SLUICE_INLINE double weight(int /*r*/) const { return of_weight; }
  SLUICE_INLINE double from_first(int /*r*/) const { return of_from_first; }
};

/// The coefficients of a block's rows, in a table in shared memory that the threads of the block share: what
/// Lines::column(n) holds begins at table + n * pitch.
template <class Lines, class Shape>
struct NearTable {
  double* table;
  int pitch;
  Shape shape;

  SLUICE_INLINE NearTable(double* start, int column_pitch, Shape of_block)
      : table(start), pitch(column_pitch), shape(of_block) {}

  SLUICE_INLINE double lower(int row) const { return table[row]; }
  SLUICE_INLINE double upper(int row) const { return table[pitch + row]; }
  SLUICE_INLINE double column(int n, int row) const { return table[n * pitch + row]; }

  /// Copies one thread's part: every `step`-th row from `start` on; on a GPU asynchronously, as a group of copies.
  SLUICE_INLINE void load(const Lines& lines, int start, int step) const {
    SLUICE_UNROLL
    for (int n = 0; n < Lines::columns; ++n) {
      const double* const from = lines.column(n) + shape.first;
      for (int row = start; row < shape.rows; row += step)
        copy_ahead<sizeof(double)>(table + n * pitch + row, from + row);
    }
    end_group_of_copies();
  }
};

/// These and 1 / pivot and weight of the rows m = 0, 1, ... inside the block, during upward elimination. The singular
/// flux does not occur: it is on the last row of the grid, which is the last of its block.
template <class Lines, class Shape>
class NearRows;

template <class Shape>
class NearRows<ShiftedLines, Shape> : public NearTable<ShiftedLines, Shape> {
 public:
  using NearTable<ShiftedLines, Shape>::NearTable;

  /// Whether pivots are computed before an elimination that calls advance(). Not in single precision, where they would
  /// need registers for doubles. A solve without elimination needs find_pivots() in both precisions.
  static constexpr bool ahead = sizeof(real) == sizeof(double);
  static constexpr bool in_registers = true;  ///< then registers are scarce
  static constexpr bool knows_from_first = false;

  /// For a line whose diagonal is shifted by `shift`.
  SLUICE_INLINE void set_shift(double shift) { shift_ = shift; }

  SLUICE_INLINE void find_pivots() {
    SLUICE_UNROLL
    for (int m = 0; m < Shape::inside; ++m) {
      if (this->shape.has(m)) find_pivot(m);
    }
  }

  /// Advances to row m from the row below.
  SLUICE_INLINE void advance(int m) {
    weight_ = m == 0 ? 1 : weight_ * (-this->upper(m) * inverse_);
    if constexpr (ahead) {
      inverse_ = pivots_[m];
    } else {
      find_pivot(m);
    }
  }
  SLUICE_INLINE double inverse(int /*m*/) const { return inverse_; }
  SLUICE_INLINE double weight(int /*m*/) const { return weight_; }
  /// The inverse, for a row that find_pivots() or advance() has passed.
  SLUICE_INLINE real kept(int m) const { return pivots_[m]; }

 private:
  SLUICE_INLINE void find_pivot(int m) {
    const double diagonal = this->column(2, m + 1) + shift_;
    inverse_ = reciprocal(m == 0 ? diagonal : multiply_add(-this->lower(m + 1) * this->upper(m), inverse_, diagonal));
    pivots_[m] = static_cast<real>(inverse_);
  }

  double shift_ = 0;
  double inverse_ = 0;
  double weight_ = 1;
  real pivots_[Shape::inside] = {};
};

template <class Shape>
class NearRows<TableLines, Shape> : public NearTable<TableLines, Shape> {
 public:
  using NearTable<TableLines, Shape>::NearTable;

  static constexpr bool ahead = false;
  static constexpr bool in_registers = false;
  static constexpr bool knows_from_first = true;  ///< so that chains can keep g

  SLUICE_INLINE void set_shift(double /*shift*/) {}
  SLUICE_INLINE void find_pivots() {}
  SLUICE_INLINE void advance(int /*m*/) {}
  SLUICE_INLINE double inverse(int m) const { return this->column(2, m + 1); }
  SLUICE_INLINE double weight(int m) const { return this->column(3, m + 1); }
  SLUICE_INLINE double from_first(int m) const { return this->column(4, m + 1); }
  SLUICE_INLINE real kept(int m) const { return static_cast<real>(inverse(m)); }
};

/// For chains that are only eliminated.
struct NoStore {};

/// The rows inside a block, `pitch` real numbers apart from `inside` on. store(m, pack) receives the solution; the rows
/// at `inside` are overwritten.
template <int Lanes, class Lines, class Shape, class Store>
struct NearChain {
  NearRows<Lines, Shape>& rows;
  real* inside;
  int pitch;
  Store store;

  /// Rows that are read before the first of them is used, so that the reads overlap, if there are registers for it.
  static constexpr int together = NearRows<Lines, Shape>::in_registers ? 1 : 2;

  template <class Action>
  SLUICE_INLINE void up(const Action& action) {
    SLUICE_UNROLL
    for (int m = 0; m < Shape::inside; ++m) {
      if (!rows.shape.has(m)) continue;
      const LanePack<Lanes> d = pack_at<Lanes>(inside + m * pitch);
      rows.advance(m);
      action(d, ChainRow{rows.lower(m + 1), 0, rows.inverse(m), rows.weight(m)});
    }
  }
  template <class Action>
  SLUICE_INLINE void keep_up(const Action& action) {
    SLUICE_UNROLL
    for (int start = 0; start < Shape::inside; start += together) {
      LanePack<Lanes> d[together] = {};
      ChainRow row[together];
      SLUICE_UNROLL
      for (int n = 0; n < together; ++n) {
        const int m = start + n;
        if (m >= Shape::inside || !rows.shape.has(m)) continue;
        d[n] = pack_at<Lanes>(inside + m * pitch);
        row[n] = {rows.lower(m + 1), 0, rows.inverse(m), rows.weight(m)};
      }
      SLUICE_UNROLL
      for (int n = 0; n < together; ++n) {
        const int m = start + n;
        if (m >= Shape::inside || !rows.shape.has(m)) continue;
        LanePack<Lanes> kept;
        action(d[n], row[n], kept);
        pack_at<Lanes>(inside + m * pitch) = kept;
      }
    }
  }
  template <class Action>
  SLUICE_INLINE void solve_up(const Action& action) {
    constexpr bool early = sizeof(real) < sizeof(double);  // faster: read a row before the row below is written
    LanePack<Lanes> next = {};
    if (early && rows.shape.has(0)) next = pack_at<Lanes>(inside);
    SLUICE_UNROLL
    for (int m = 0; m < Shape::inside; ++m) {
      if (!rows.shape.has(m)) continue;
      LanePack<Lanes> d = next;
      if constexpr (!early) {
        d = pack_at<Lanes>(inside + m * pitch);
      } else if (m + 1 < Shape::inside && rows.shape.has(m + 1)) {
        next = pack_at<Lanes>(inside + (m + 1) * pitch);
      }
      LanePack<Lanes> kept;
      action(d, ChainRow{rows.lower(m + 1), 0, rows.kept(m)}, kept);
      pack_at<Lanes>(inside + m * pitch) = kept;
    }
  }
  template <class Action>
  SLUICE_INLINE void down(const Action& action) {
    if constexpr (NearRows<Lines, Shape>::in_registers) device::forget_registers();
    constexpr int last = (Shape::inside - 1) / together * together;
    SLUICE_UNROLL
    for (int start = last; start >= 0; start -= together) {
      LanePack<Lanes> kept[together] = {};
      ChainRow row[together];
      SLUICE_UNROLL
      for (int n = together - 1; n >= 0; --n) {
        const int m = start + n;
        if (m >= Shape::inside || !rows.shape.has(m)) continue;
        kept[n] = pack_at<Lanes>(inside + m * pitch);
        row[n] = {0, rows.upper(m + 1), rows.kept(m)};
        if constexpr (NearRows<Lines, Shape>::knows_from_first) row[n].of_from_first = rows.from_first(m);
      }
      SLUICE_UNROLL
      for (int n = together - 1; n >= 0; --n) {
        const int m = start + n;
        if (m >= Shape::inside || !rows.shape.has(m)) continue;
        LanePack<Lanes> x;
        action(kept[n], row[n], x);
        store(m, x);
      }
    }
  }
};

}  // namespace sluice
