#pragma once
// A block of a pack of lines that one GPU thread holds in shared memory ("near"): unrolled loops of constant length,
// pivots in registers. Plain code, which also runs on the host.
#include <cmath>
#include <cstdint>

#include "core/support/error.hpp"
#include "poisson/tridiagonal/chains.hpp"
#include "poisson/tridiagonal/line_plan.hpp"

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

/// Coefficients of a block's rows in shared memory: row k of the block at index k - first.
template <class Lines>
struct BlockTable;

template <>
struct BlockTable<ShiftedLines> {
  static constexpr int columns = 3;
  const double *lower, *upper, *diagonal;

  SLUICE_INLINE static double entry(const ShiftedLines& lines, int column, int k) {
    return column == 0 ? lines.lower[k] : column == 1 ? lines.upper[k] : lines.diagonal[k];
  }
  SLUICE_INLINE BlockTable(const double* table, int pitch)
      : lower(table), upper(table + pitch), diagonal(table + 2 * pitch) {}
};

template <>
struct BlockTable<TableLines> {
  static constexpr int columns = 4;
  const double *lower, *upper, *inverse, *weight;

  SLUICE_INLINE static double entry(const TableLines& lines, int column, int k) {
    return column == 0   ? lines.lower[k]
           : column == 1 ? lines.upper[k]
           : column == 2 ? lines.inverse[k]
                         : lines.weight[k];
  }
  SLUICE_INLINE BlockTable(const double* table, int pitch)
      : lower(table), upper(table + pitch), inverse(table + 2 * pitch), weight(table + 3 * pitch) {}
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

  SLUICE_INLINE void find_all(const BlockTable<ShiftedLines>& table, const Shape& shape) {
    SLUICE_UNROLL
    for (int m = 0; m < Shape::inside; ++m) {
      if (shape.has(m)) find(table, m);
    }
  }

  /// Advances to row m from the row below.
  SLUICE_INLINE void advance(const BlockTable<ShiftedLines>& table, int m) {
    weight_ = m == 0 ? 1 : weight_ * (-table.upper[m] * inverse_);
    if constexpr (ahead) {
      inverse_ = row_[m];
    } else {
      find(table, m);
    }
  }
  SLUICE_INLINE double inverse(const BlockTable<ShiftedLines>& /*table*/, int /*m*/) const { return inverse_; }
  SLUICE_INLINE double weight(const BlockTable<ShiftedLines>& /*table*/, int /*m*/) const { return weight_; }
  /// For a row that find_all() or advance() has passed.
  SLUICE_INLINE real kept(const BlockTable<ShiftedLines>& /*table*/, int m) const { return row_[m]; }

 private:
  SLUICE_INLINE void find(const BlockTable<ShiftedLines>& table, int m) {
    const double diagonal = table.diagonal[m + 1] + shift_;
    inverse_ = reciprocal(m == 0 ? diagonal : fma(-table.lower[m + 1] * table.upper[m], inverse_, diagonal));
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
  SLUICE_INLINE void find_all(const BlockTable<TableLines>& /*table*/, const Shape& /*shape*/) {}
  SLUICE_INLINE void advance(const BlockTable<TableLines>& /*table*/, int /*m*/) {}
  SLUICE_INLINE double inverse(const BlockTable<TableLines>& table, int m) const { return table.inverse[m + 1]; }
  SLUICE_INLINE double weight(const BlockTable<TableLines>& table, int m) const { return table.weight[m + 1]; }
  SLUICE_INLINE real kept(const BlockTable<TableLines>& table, int m) const {
    return static_cast<real>(table.inverse[m + 1]);
  }
};

/// The rows inside a block, `pitch` real numbers apart from `inside` on. store(m, pack) receives the solution; the rows
/// at `inside` are overwritten.
template <int Lanes, class Lines, class Shape, class Store>
struct NearChain {
  const BlockTable<Lines>& table;
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
      action(d, ChainRow{table.lower[m + 1], 0, pivots.inverse(table, m), pivots.weight(table, m)});
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
      action(d, ChainRow{table.lower[m + 1], 0, pivots.kept(table, m)}, kept);
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
      action(kept, ChainRow{0, table.upper[m + 1], pivots.kept(table, m)}, x);
      store(m, x);
    }
  }
};

/// A block's two equations of the reduced system, eliminated as far as possible without the other blocks. What
/// solve_between does to the values v of last rows (upwards) and w of first rows (downwards) is then one product and
/// one sum per block,
///   v_n = up() v_{n-1} + start_up,    w_n = down() w_{n+1} + start_down.
struct BlockBoundary {
  double of_first = 0, of_last = 0, across = 0;  ///< ReducedCoefficient
  double symmetry = 0;  ///< of the block; times `across`: the last row's coefficient of x_first

  /// lower, upper: coefficients of the first and the last row towards the blocks below and above.
  SLUICE_INLINE double up(double lower) const { return (back() * of_last) * (lower * of_first); }
  SLUICE_INLINE double down(double upper) const { return (across * of_first) * (upper * of_last); }
  SLUICE_INLINE double start_up(double rhs_first, double rhs_last) const {
    return fma(-back(), rhs_first * of_first, rhs_last) * of_last;
  }
  SLUICE_INLINE double start_down(double lower, double rhs_first, double v_below, double v) const {
    return fma(-across * of_first, v, fma(-lower, v_below, rhs_first) * of_first);
  }
  SLUICE_INLINE double last(double upper, double v, double w_above) const { return fma(-upper * of_last, w_above, v); }
  SLUICE_INLINE double back() const { return symmetry * across; }
};

/// values_n = factor_n values_{n-1} + values_n, n from 1 to `count` - 1; with negative pitches, from the last to the
/// first. Reads a few values at a time, so that the reads overlap.
SLUICE_INLINE void chain(int count, const double* factors, int factor_pitch, double* values, int pitch) {
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

}  // namespace sluice
