#pragma once
// A block of a pack of lines that one GPU thread holds in shared memory ("near"): unrolled loops of constant length,
// pivots in registers. Plain code, which also runs on the host.
#include <cmath>
#include <cstdint>

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

  SLUICE_INLINE int last() const { return first + rows - 1; }
  /// Whether the block has the m-th row between its first and last.
  SLUICE_INLINE bool has(int m) const { return m + 2 < MinRows || m + 2 < rows; }
};

/// Makes the compiler reload values from memory, instead of keeping them in scarce registers.
SLUICE_INLINE void forget_registers() {
#ifdef __CUDA_ARCH__
  asm volatile("" ::: "memory");
#endif
}

/// Calls action with the smallest shape that fits blocks of at most `longest` rows. Block lengths differ by at most one
/// row, so each block has at least as many rows as the next smaller shape holds.
template <class Action>
void with_shape(std::int64_t longest, const Action& action) {
  if (longest <= 8) {
    action(BlockShape<8, 2>());
  } else if (longest <= 12) {
    action(BlockShape<12, 8>());
  } else if (longest <= 16) {
    action(BlockShape<16, 12>());
  } else if (longest <= 17) {
    action(BlockShape<17, 16>());
  } else if (longest <= 20) {
    action(BlockShape<20, 17>());
  } else if (longest <= 24) {
    action(BlockShape<24, 20>());
  } else if (longest <= 28) {
    action(BlockShape<28, 24>());
  } else {
    SLUICE_REQUIRE(longest <= max_rows_of_thread, "a block that is too long for a thread");
    action(BlockShape<32, 28>());
  }
}

/// Coefficients of an unknown, the same for all lanes.
struct ChainRow {
  double of_lower, of_upper, of_inverse, of_weight = 0;

  SLUICE_INLINE double lower(int /*r*/) const { return of_lower; }
  SLUICE_INLINE double upper(int /*r*/) const { return of_upper; }
  SLUICE_INLINE double inverse(int /*r*/) const { return of_inverse; }
  SLUICE_INLINE double weight(int /*r*/) const { return of_weight; }
};

/// 1 / x. In a single-precision build, accurate to 1.5e-14: one Newton step after a single-precision division, because
/// a double division would take as long as all other work on a row. x: within the range of float.
SLUICE_INLINE double reciprocal(double x) {
  if constexpr (sizeof(real) == sizeof(double)) {
    return 1 / x;
  } else {
    const double approximate = 1.0F / static_cast<float>(x);
    return approximate * fma(-x, approximate, 2.0);
  }
}

/// Coefficients of a block's rows in shared memory: column c of Lines::entry begins at data + c * pitch.
struct NearTable {
  double* data;
  int pitch;

  SLUICE_INLINE double lower(int row) const { return data[row]; }
  SLUICE_INLINE double upper(int row) const { return data[pitch + row]; }
  SLUICE_INLINE double column(int n, int row) const { return data[n * pitch + row]; }

  /// Loads one thread's part: every `step`-th row from `start` on. A barrier must follow before the table is used.
  template <class Lines, class Shape>
  SLUICE_INLINE void load(const Lines& lines, const Shape& shape, int start, int step) const {
    for (int n = 0; n < Lines::columns; ++n) {
      for (int row = start; row < shape.rows; row += step) data[n * pitch + row] = lines.entry(n, shape.first + row);
    }
  }
};

/// 1 / pivot and weight of the rows m = 0, 1, ... inside a block, during upward elimination. The singular flux does not
/// occur: it is on the last row of the grid, which is the last of its block.
template <class Lines, class Shape>
class NearPivots;

template <class Shape>
class NearPivots<ShiftedLines, Shape> {
 public:
  /// Whether pivots are computed before an elimination that calls advance(). Not in single precision, where they would
  /// need registers for doubles. A solve without elimination needs find_all() in both precisions.
  static constexpr bool ahead = sizeof(real) == sizeof(double);
  static constexpr bool in_registers = true;  ///< then registers are scarce

  /// For a line whose diagonal is shifted by `shift`.
  SLUICE_INLINE void set_shift(double shift) { shift_ = shift; }

  SLUICE_INLINE void find_all(const NearTable& table, const Shape& shape) {
    SLUICE_UNROLL
    for (int m = 0; m < Shape::inside; ++m) {
      if (shape.has(m)) find(table, m);
    }
  }

  /// Advances to row m from the row below.
  SLUICE_INLINE void advance(const NearTable& table, int m) {
    weight_ = m == 0 ? 1 : weight_ * (-table.upper(m) * inverse_);
    if constexpr (ahead) {
      inverse_ = row_[m];
    } else {
      find(table, m);
    }
  }
  SLUICE_INLINE double inverse(const NearTable& /*table*/, int /*m*/) const { return inverse_; }
  SLUICE_INLINE double weight(const NearTable& /*table*/, int /*m*/) const { return weight_; }
  /// For a row that find_all() or advance() has passed.
  SLUICE_INLINE real kept(const NearTable& /*table*/, int m) const { return row_[m]; }

 private:
  SLUICE_INLINE void find(const NearTable& table, int m) {
    const double diagonal = table.column(2, m + 1) + shift_;
    inverse_ = reciprocal(m == 0 ? diagonal : fma(-table.lower(m + 1) * table.upper(m), inverse_, diagonal));
    row_[m] = static_cast<real>(inverse_);
  }

  double shift_ = 0;
  double inverse_ = 0;
  double weight_ = 1;
  real row_[Shape::inside] = {};
};

template <class Shape>
class NearPivots<TableLines, Shape> {
 public:
  static constexpr bool ahead = false;
  static constexpr bool in_registers = false;

  SLUICE_INLINE void set_shift(double /*shift*/) {}
  SLUICE_INLINE void find_all(const NearTable& /*table*/, const Shape& /*shape*/) {}
  SLUICE_INLINE void advance(const NearTable& /*table*/, int /*m*/) {}
  SLUICE_INLINE double inverse(const NearTable& table, int m) const { return table.column(2, m + 1); }
  SLUICE_INLINE double weight(const NearTable& table, int m) const { return table.column(3, m + 1); }
  SLUICE_INLINE real kept(const NearTable& table, int m) const { return static_cast<real>(table.column(2, m + 1)); }
};

/// For chains that are only eliminated.
struct NoStore {};

/// The rows inside a block, `pitch` real numbers apart from `inside` on. store(m, pack) receives the solution; the rows
/// at `inside` are overwritten.
template <int Lanes, class Lines, class Shape, class Store>
struct NearChain {
  const NearTable& table;
  const Shape& shape;
  NearPivots<Lines, Shape>& pivots;
  real* inside;
  int pitch;
  Store store;

  template <class Action>
  SLUICE_INLINE void up(const Action& action) {
    SLUICE_UNROLL
    for (int m = 0; m < Shape::inside; ++m) {
      if (!shape.has(m)) continue;
      const LanePack<Lanes> d = pack_at<Lanes>(inside + m * pitch);
      pivots.advance(table, m);
      action(d, ChainRow{table.lower(m + 1), 0, pivots.inverse(table, m), pivots.weight(table, m)});
    }
  }
  template <class Action>
  SLUICE_INLINE void solve_up(const Action& action) {
    constexpr bool early = sizeof(real) < sizeof(double);  // faster: read a row before the row below is written
    LanePack<Lanes> next = {};
    if (early && shape.has(0)) next = pack_at<Lanes>(inside);
    SLUICE_UNROLL
    for (int m = 0; m < Shape::inside; ++m) {
      if (!shape.has(m)) continue;
      LanePack<Lanes> d = next;
      if constexpr (!early) {
        d = pack_at<Lanes>(inside + m * pitch);
      } else if (m + 1 < Shape::inside && shape.has(m + 1)) {
        next = pack_at<Lanes>(inside + (m + 1) * pitch);
      }
      LanePack<Lanes> kept;
      action(d, ChainRow{table.lower(m + 1), 0, pivots.kept(table, m)}, kept);
      pack_at<Lanes>(inside + m * pitch) = kept;
    }
  }
  template <class Action>
  SLUICE_INLINE void down(const Action& action) {
    if constexpr (NearPivots<Lines, Shape>::in_registers) forget_registers();
    SLUICE_UNROLL
    for (int m = Shape::inside - 1; m >= 0; --m) {
      if (!shape.has(m)) continue;
      const LanePack<Lanes> kept = pack_at<Lanes>(inside + m * pitch);
      LanePack<Lanes> x;
      action(kept, ChainRow{0, table.upper(m + 1), pivots.kept(table, m)}, x);
      store(m, x);
    }
  }
};

}  // namespace sluice
