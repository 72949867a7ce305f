#pragma once
// The sweeps of tridiagonal_sweeps.hpp for threads of a GPU that each have one block of one line, or the reduced system
// of one. The same equations; products and sums are fused explicitly, so that the bits do not depend on the kernel that
// the compiler puts them in.
#include "poisson/tridiagonal/block_shape.hpp"
#include "poisson/tridiagonal/tridiagonal_sweeps.hpp"

namespace sluice {

/// 1 / pivot and weight of the row inside a block where the elimination stands. The leak of the singular line does not
/// occur: it is on the last row of the grid, which is the last of its block.
template <class Lines>
class RunningPivot;

template <>
class RunningPivot<ShiftedLines> {
 public:
  SLUICE_INLINE RunningPivot(const ShiftedLines& lines, int i, int j) : shift_(lines.shift_x[i] + lines.shift_y[j]) {}

  /// To row k of the grid; rows come in order, the `lowest` one first.
  SLUICE_INLINE void advance(const ShiftedLines& lines, bool lowest, int k) {
    if (lowest) {
      inverse_ = reciprocal(lines.diagonal[k] + shift_);
      weight_ = 1;
    } else {
      const double upper = lines.upper[k - 1];
      weight_ *= -upper * inverse_;
      inverse_ = reciprocal(fma(-lines.lower[k] * upper, inverse_, lines.diagonal[k] + shift_));
    }
  }
  SLUICE_INLINE double inverse(const ShiftedLines& /*lines*/, int /*k*/) const { return inverse_; }
  SLUICE_INLINE double weight(const ShiftedLines& /*lines*/, int /*k*/) const { return weight_; }

 private:
  double shift_;
  double inverse_ = 0;
  double weight_ = 1;
};

template <>
class RunningPivot<TableLines> {
 public:
  SLUICE_INLINE RunningPivot(const TableLines& /*lines*/, int /*i*/, int /*j*/) {}
  SLUICE_INLINE void advance(const TableLines& /*lines*/, bool /*lowest*/, int /*k*/) {}
  SLUICE_INLINE double inverse(const TableLines& lines, int k) const { return lines.inverse[k]; }
  SLUICE_INLINE double weight(const TableLines& lines, int k) const { return lines.weight[k]; }
};

/// Rows [first, first + count) of the grid.
struct RowRange {
  int first, count;
};

/// The right-hand sides of the two boundary equations of these rows, from those of the first and the last; `d` is the
/// first. Rows are read a few at a time, the next ones before these are used.
template <int Lanes, class Lines>
SLUICE_INLINE void form_boundary_in_turns(const Lines& lines, RunningPivot<Lines> pivot, const RowRange& rows,
                                          const real* d, std::ptrdiff_t stride, LanePack<Lanes>& first,
                                          LanePack<Lanes>& last) {
  constexpr int turn = 4;
  const int inside = rows.count - 2;
  LanePack<Lanes> next[turn] = {};
  const auto load_next = [&](int start) {
    SLUICE_UNROLL
    for (int n = 0; n < turn; ++n) {
      if (start + n < inside) next[n] = pack_at<Lanes>(d + (start + n + 1) * stride);
    }
  };
  load_next(0);
  first = pack_at<Lanes>(d);
  last = pack_at<Lanes>(d + (rows.count - 1) * stride);
  double g[Lanes] = {};
  double lowest[Lanes] = {};
  for (int start = 0; start < inside; start += turn) {
    LanePack<Lanes> now[turn];
    SLUICE_UNROLL
    for (int n = 0; n < turn; ++n) now[n] = next[n];
    load_next(start + turn);
    SLUICE_UNROLL
    for (int n = 0; n < turn; ++n) {
      if (start + n >= inside) continue;
      const int k = rows.first + 1 + start + n;
      pivot.advance(lines, start + n == 0, k);
      const double inverse = pivot.inverse(lines, k);
      const double weight = pivot.weight(lines, k);
      const double lower = lines.lower[k];
      SLUICE_UNROLL
      for (int r = 0; r < Lanes; ++r) {
        g[r] = fma(-lower, g[r], static_cast<double>(now[n].lane[r])) * inverse;
        lowest[r] = fma(weight, g[r], lowest[r]);
      }
    }
  }
  const double upper = lines.upper[rows.first];
  const double lower = lines.lower[rows.first + rows.count - 1];
  SLUICE_UNROLL
  for (int r = 0; r < Lanes; ++r) {
    first.lane[r] = static_cast<real>(fma(-upper, lowest[r], static_cast<double>(first.lane[r])));
    last.lane[r] = static_cast<real>(fma(-lower, g[r], static_cast<double>(last.lane[r])));
  }
}

/// The prepared coefficients of one line's reduced system: coefficient `which` of block n.
struct ReducedColumn {
  const double* data;
  std::ptrdiff_t pitch;

  SLUICE_INLINE double at(ReducedCoefficient which, int block) const {
    return data[(reduced_coefficients * block + which) * pitch];
  }
};

/// What a few blocks of a reduced system take from the matrix, read together so that the reads overlap.
struct ReducedGroup {
  static constexpr int blocks = 4;

  double of_first[blocks] = {}, of_last[blocks] = {}, across[blocks] = {};
  double lower[blocks] = {}, upper[blocks] = {}, back[blocks] = {};

  SLUICE_INLINE void load(const LineRows& rows, const ReducedColumn& column, int start) {
    SLUICE_UNROLL
    for (int n = 0; n < blocks; ++n) {
      const int block = start + n;
      if (block >= rows.blocks.count) continue;
      of_first[n] = column.at(inverse_of_first, block);
      of_last[n] = column.at(inverse_of_last, block);
      across[n] = column.at(coupling, block);
      lower[n] = rows.lower[rows.blocks.bounds[block]];
      upper[n] = rows.upper[rows.blocks.bounds[block + 1] - 1];
      back[n] = rows.symmetry[block] * across[n];
    }
  }
};

/// The upward sweep of solve_reduced for one thread: from right-hand sides in `values` to intermediate values in `g`,
/// which lie `pitch` real numbers and `g_pitch` doubles apart.
template <int Lanes>
SLUICE_INLINE void sweep_reduced_up(const LineRows& rows, const ReducedColumn& column, const real* values,
                                    std::ptrdiff_t pitch, double* g, std::ptrdiff_t g_pitch) {
  constexpr int in_group = ReducedGroup::blocks;
  const int count = rows.blocks.count;
  double value[Lanes] = {};
  for (int start = 0; start < count; start += in_group) {
    LanePack<Lanes> rhs[2 * in_group] = {};
    SLUICE_UNROLL
    for (int n = 0; n < 2 * in_group; ++n) {
      if (2 * start + n < 2 * count) rhs[n] = pack_at<Lanes>(values + (2 * start + n) * pitch);
    }
    ReducedGroup group;
    group.load(rows, column, start);
    SLUICE_UNROLL
    for (int n = 0; n < in_group; ++n) {
      if (start + n >= count) continue;
      double* kept = g + 2 * (start + n) * g_pitch;
      SLUICE_UNROLL
      for (int r = 0; r < Lanes; ++r) {
        const double lowest =
            fma(-group.lower[n], value[r], static_cast<double>(rhs[2 * n].lane[r])) * group.of_first[n];
        value[r] = fma(-group.back[n], lowest, static_cast<double>(rhs[2 * n + 1].lane[r])) * group.of_last[n];
        kept[r] = lowest;
        kept[g_pitch + r] = value[r];
      }
    }
  }
}

/// The downward sweep, from `g` to the solution in `values`.
template <int Lanes>
SLUICE_INLINE void sweep_reduced_down(const LineRows& rows, const ReducedColumn& column, const double* g,
                                      std::ptrdiff_t g_pitch, real* values, std::ptrdiff_t pitch) {
  constexpr int in_group = ReducedGroup::blocks;
  const int count = rows.blocks.count;
  double value[Lanes] = {};
  for (int start = (count - 1) / in_group * in_group; start >= 0; start -= in_group) {
    ReducedGroup group;
    group.load(rows, column, start);
    LanePack<Lanes> solution[2 * in_group] = {};
    SLUICE_UNROLL
    for (int n = in_group - 1; n >= 0; --n) {
      if (start + n >= count) continue;
      const double above = group.upper[n] * group.of_last[n];
      const double ahead = group.across[n] * group.of_first[n];
      const double* kept = g + 2 * (start + n) * g_pitch;
      SLUICE_UNROLL
      for (int r = 0; r < Lanes; ++r) {
        const double highest = fma(-above, value[r], kept[g_pitch + r]);
        value[r] = fma(-ahead, highest, kept[r]);
        solution[2 * n].lane[r] = static_cast<real>(value[r]);
        solution[2 * n + 1].lane[r] = static_cast<real>(highest);
      }
    }
    SLUICE_UNROLL
    for (int n = 0; n < 2 * in_group; ++n) {
      if (2 * start + n < 2 * count) pack_at<Lanes>(values + (2 * start + n) * pitch) = solution[n];
    }
  }
}

/// A rank's blocks as one: from the right-hand sides of all their boundary equations, in `values`, those of the two
/// that are left when all values but the lowest and the highest are eliminated. The weights are those of
/// tridiagonal_sweeps.hpp, for the unknowns of the reduced system in place of rows.
template <int Lanes>
SLUICE_INLINE void condense(const LineRows& rows, const ReducedColumn& column, const real* values, std::ptrdiff_t pitch,
                            LanePack<Lanes>& first, LanePack<Lanes>& last) {
  first = last = {};
  const int count = rows.blocks.count;
  double g[Lanes] = {};
  double lowest[Lanes] = {};
  double weight = 1;
  double across_first = 0;
  double back_last = 0;
  for (int start = 0; start < count; start += ReducedGroup::blocks) {
    LanePack<Lanes> rhs[2 * ReducedGroup::blocks] = {};
    SLUICE_UNROLL
    for (int n = 0; n < 2 * ReducedGroup::blocks; ++n) {
      if (2 * start + n < 2 * count) rhs[n] = pack_at<Lanes>(values + (2 * start + n) * pitch);
    }
    ReducedGroup group;
    group.load(rows, column, start);
    SLUICE_UNROLL
    for (int n = 0; n < ReducedGroup::blocks; ++n) {
      const int block = start + n;
      if (block >= count) continue;
      if (block == 0) {
        first = rhs[2 * n];
        across_first = group.across[n];
      } else {
        SLUICE_UNROLL
        for (int r = 0; r < Lanes; ++r) {
          g[r] = fma(-group.lower[n], g[r], static_cast<double>(rhs[2 * n].lane[r])) * group.of_first[n];
          lowest[r] = fma(weight, g[r], lowest[r]);
        }
        weight *= -group.across[n] * group.of_first[n];
      }
      if (block + 1 == count) {
        last = rhs[2 * n + 1];
        back_last = group.back[n];
      } else {
        SLUICE_UNROLL
        for (int r = 0; r < Lanes; ++r) {
          g[r] = fma(block == 0 ? 0.0 : -group.back[n], g[r], static_cast<double>(rhs[2 * n + 1].lane[r])) *
                 group.of_last[n];
          lowest[r] = fma(weight, g[r], lowest[r]);
        }
        weight *= -group.upper[n] * group.of_last[n];
      }
    }
  }
  if (count == 1) return;
  SLUICE_UNROLL
  for (int r = 0; r < Lanes; ++r) {
    first.lane[r] = static_cast<real>(fma(-across_first, lowest[r], static_cast<double>(first.lane[r])));
    last.lane[r] = static_cast<real>(fma(-back_last, g[r], static_cast<double>(last.lane[r])));
  }
}

/// All boundary values of a rank's blocks, in place of their right-hand sides, from the lowest and the highest.
template <int Lanes>
SLUICE_INLINE void expand(const LineRows& rows, const ReducedColumn& column, const LanePack<Lanes>& first,
                          const LanePack<Lanes>& last, real* values, std::ptrdiff_t pitch, double* g,
                          std::ptrdiff_t g_pitch) {
  const int count = rows.blocks.count;
  if (count > 1) {
    const double back_first = rows.symmetry[0] * column.at(coupling, 0);
    const double across_last = column.at(coupling, count - 1);
    LanePack<Lanes>& above_first = pack_at<Lanes>(values + pitch);
    LanePack<Lanes>& below_last = pack_at<Lanes>(values + (2 * count - 2) * pitch);
    SLUICE_UNROLL
    for (int r = 0; r < Lanes; ++r) {
      above_first.lane[r] = static_cast<real>(
          fma(-back_first, static_cast<double>(first.lane[r]), static_cast<double>(above_first.lane[r])));
      below_last.lane[r] = static_cast<real>(
          fma(-across_last, static_cast<double>(last.lane[r]), static_cast<double>(below_last.lane[r])));
    }
    sweep_reduced_up<Lanes>(rows, column, values, pitch, g, g_pitch);
    sweep_reduced_down<Lanes>(rows, column, g, g_pitch, values, pitch);
  }
  pack_at<Lanes>(values) = first;
  pack_at<Lanes>(values + (2 * count - 1) * pitch) = last;
}

}  // namespace sluice
