#pragma once
// The sweeps of tridiagonal_sweeps.hpp for threads that each have one block of a pack of lines, its rows in memory that
// is near: loops of constant length, unrolled, pivots in registers. The same equations; products and sums are fused
// explicitly, so that the bits do not depend on the kernel that the compiler puts them in.
#include <cmath>

#include "poisson/tridiagonal/block_shape.hpp"
#include "poisson/tridiagonal/tridiagonal_sweeps.hpp"

namespace sluice {

/// What a block's rows take from the matrix, in memory that is near: row k of the block at index k - first.
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

/// What line (i, j) of a box adds to the diagonal.
SLUICE_INLINE double shift_of_line(const ShiftedLines& lines, int i, int j) {
  return lines.shift_x[i] + lines.shift_y[j];
}
SLUICE_INLINE double shift_of_line(const TableLines& /*lines*/, int /*i*/, int /*j*/) {
  return 0;
}

/// 1 / pivot and weight of the rows inside a block, while its elimination goes up; m counts them, from 0. The leak of
/// the singular line does not occur: it is on the last row of the grid, which is the last of its block.
template <class Lines, class Shape>
class TilePivots;

template <class Shape>
class TilePivots<ShiftedLines, Shape> {
 public:
  /// Whether they are found ahead of an elimination that advances: in single precision the registers that keep them in
  /// double are worth more. What only solves for the rows inside needs them all in either.
  static constexpr bool ahead = sizeof(real) == sizeof(double);
  static constexpr bool in_registers = true;  ///< which are scarce then

  /// Of a line whose diagonal is shifted by `shift`.
  SLUICE_INLINE void set_shift(double shift) { shift_ = shift; }

  SLUICE_INLINE void find_all(const BlockTable<ShiftedLines>& table, const Shape& shape) {
    SLUICE_UNROLL
    for (int m = 0; m < Shape::inside; ++m) {
      if (shape.has(m)) find(table, m);
    }
  }

  /// To row m, from the one below.
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
  /// Of a row that find_all() or advance() has passed.
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
class TilePivots<TableLines, Shape> {
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

/// The right-hand sides of a block's two boundary equations, in place of those of its first and last rows. The rows
/// between begin at `inside`, `pitch` real numbers apart. In double: what it rounds, long waves make large.
template <int Lanes, class Lines, class Shape>
SLUICE_INLINE void form_boundary_of_block(const BlockTable<Lines>& table, const Shape& shape,
                                          TilePivots<Lines, Shape>& pivots, const real* inside, int pitch,
                                          double (&first)[Lanes], double (&last)[Lanes]) {
  double g[Lanes] = {};
  double lowest[Lanes] = {};
  SLUICE_UNROLL
  for (int m = 0; m < Shape::inside; ++m) {
    if (!shape.has(m)) continue;
    const LanePack<Lanes> d = pack_at<Lanes>(inside + m * pitch);
    pivots.advance(table, m);
    const double inverse = pivots.inverse(table, m);
    const double weight = pivots.weight(table, m);
    const double lower = table.lower[m + 1];
    SLUICE_UNROLL
    for (int r = 0; r < Lanes; ++r) {
      g[r] = fma(-lower, g[r], static_cast<double>(d.lane[r])) * inverse;
      lowest[r] = fma(weight, g[r], lowest[r]);
    }
  }
  const double upper = table.upper[0];
  const double lower = table.lower[shape.rows - 1];
  SLUICE_UNROLL
  for (int r = 0; r < Lanes; ++r) {
    first[r] = fma(-upper, lowest[r], first[r]);
    last[r] = fma(-lower, g[r], last[r]);
  }
}

/// Solves for the rows inside, the values of the first and last known: calls store(m, pack) for each. What is at
/// `inside` is lost. So short a system needs no more than the precision of its values.
template <int Lanes, class Lines, class Shape, class Store>
SLUICE_INLINE void solve_block(const BlockTable<Lines>& table, const Shape& shape,
                               const TilePivots<Lines, Shape>& pivots, real* inside, int pitch,
                               const LanePack<Lanes>& first, const LanePack<Lanes>& last, const Store& store) {
  constexpr bool early = sizeof(real) < sizeof(double);  // a row is read before the one below is written: faster there
  LanePack<Lanes> value = first;
  LanePack<Lanes> next = first;
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
    const real inverse = pivots.kept(table, m);
    const auto lower = static_cast<real>(table.lower[m + 1]);
    SLUICE_UNROLL
    for (int r = 0; r < Lanes; ++r) value.lane[r] = std::fma(-lower, value.lane[r], d.lane[r]) * inverse;
    pack_at<Lanes>(inside + m * pitch) = value;
  }
  if constexpr (TilePivots<Lines, Shape>::in_registers) forget_registers();
  value = last;
  SLUICE_UNROLL
  for (int m = Shape::inside - 1; m >= 0; --m) {
    if (!shape.has(m)) continue;
    const LanePack<Lanes> kept = pack_at<Lanes>(inside + m * pitch);
    const real factor = static_cast<real>(-table.upper[m + 1]) * pivots.kept(table, m);
    SLUICE_UNROLL
    for (int r = 0; r < Lanes; ++r) value.lane[r] = std::fma(factor, value.lane[r], kept.lane[r]);
    store(m, value);
  }
}

/// A block's two equations of the reduced system, eliminated so far as can be done without the other blocks: what
/// solve_reduced of tridiagonal_sweeps.hpp does to the values v of last rows, going up, and w of first rows, going
/// down, is for each block one product and one sum,
///   v_n = up() v_{n-1} + start_up,    w_n = down() w_{n+1} + start_down.
struct BlockBoundary {
  double of_first = 0, of_last = 0, across = 0;  ///< ReducedCoefficient
  double symmetry = 0;  ///< of the block: `across` times it goes from its last row to its first

  /// lower, upper: the coefficients of the first and the last row towards the blocks below and above.
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

/// values_n = factor_n values_{n-1} + values_n, n from 1 to `count` - 1; with negative pitches from the last to the
/// first. Reads a few at a time, so that the reads overlap.
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
