#pragma once
// Chains in memory for the functions of sweeps.hpp: they supply the rows and coefficients.
#include "poisson/tridiagonal/lines.hpp"
#include "poisson/tridiagonal/pivots.hpp"

namespace sluice {

/// Coefficients of an unknown, the same for all lanes.
struct ChainRow {
  double of_lower, of_upper, of_inverse, of_weight = 0;

  SLUICE_INLINE double lower(int /*r*/) const { return of_lower; }
  SLUICE_INLINE double upper(int /*r*/) const { return of_upper; }
  SLUICE_INLINE double inverse(int /*r*/) const { return of_inverse; }
  SLUICE_INLINE double weight(int /*r*/) const { return of_weight; }
};

/// Rows [first, end) of a bundle, one after another. `x` is row `first`. `g` stores the rows' intermediate values and
/// may be x itself. With `Kept`, up() stores the pivots for the other sweeps.
template <bool Kept, class Lines, int Lanes, class Count, class G>
struct BundleChain {
  Pivots<Lines, Lanes>& pivots;
  Count n;
  int first, end;
  real* x;
  std::ptrdiff_t stride;
  G* g;
  std::ptrdiff_t g_pitch;

  template <class Action>
  SLUICE_INLINE void up(const Action& action) {
    for (int k = first; k < end; ++k) {
      pivots.advance(k == first, k, n);
      if constexpr (Kept) pivots.keep(k, n);
      action(x + (k - first) * stride, pivots);
    }
  }
  template <class Action>
  SLUICE_INLINE void solve_up(const Action& action) {
    for (int k = first; k < end; ++k) {
      if constexpr (Kept) {
        pivots.recall(k, n);
      } else {
        pivots.advance(k == first, k, n);
        pivots.keep(k, n);
      }
      action(x + (k - first) * stride, pivots, g + (k - first) * g_pitch);
    }
  }
  template <class Action>
  SLUICE_INLINE void down(const Action& action) {
    for (int k = end - 1; k >= first; --k) {
      pivots.recall(k, n);
      action(g + (k - first) * g_pitch, pivots, x + (k - first) * stride);
    }
  }
};

/// `count` rows from `first` on, inside a block, for a GPU thread. Reads a few rows at a time and prefetches the next
/// ones.
template <class Lines, int Lanes>
struct StreamedChain {
  Pivots<Lines, Lanes, PivotRows::streamed> pivots;
  int first, count;
  const real* d;
  std::ptrdiff_t stride;

  template <class Action>
  SLUICE_INLINE void up(const Action& action) {
    constexpr int turn = 4;
    LanePack<Lanes> next[turn] = {};
    const auto load_next = [&](int start) {
      SLUICE_UNROLL
      for (int n = 0; n < turn; ++n) {
        if (start + n < count) next[n] = pack_at<Lanes>(d + (start + n) * stride);
      }
    };
    load_next(0);
    for (int start = 0; start < count; start += turn) {
      LanePack<Lanes> now[turn];
      SLUICE_UNROLL
      for (int n = 0; n < turn; ++n) now[n] = next[n];
      load_next(start + turn);
      SLUICE_UNROLL
      for (int n = 0; n < turn; ++n) {
        if (start + n >= count) continue;
        pivots.advance(start + n == 0, first + start + n, std::integral_constant<int, Lanes>{});
        action(now[n], pivots);
      }
    }
  }
};

/// The reduced system of a bundle whose first line is (i, j): values[2 n] belongs to the first row of block n, values[2
/// n + 1] to its last. `g` stores intermediate values and may be `values` itself.
template <class Lines, int Lanes, class Count, class G>
class ReducedBundle {
 public:
  SLUICE_INLINE ReducedBundle(const Lines& lines, int i, int j, Count n, real* values, std::ptrdiff_t pitch, G* g,
                              std::ptrdiff_t g_pitch)
      : lines_(lines), i_(i), j_(j), n_(n), values_(values), pitch_(pitch), g_(g), g_pitch_(g_pitch) {}

  template <class Action>
  SLUICE_INLINE void solve_up(const Action& action) {
    for (int m = 0; m < 2 * lines_.blocks.count; ++m) {
      const double lower = lines_.lower[lines_.blocks.bounds[m / 2]];
      const double symmetry = lines_.symmetry[m / 2];
      load(m, [&](double across) { return m % 2 == 0 ? lower : symmetry * across; });
      action(values_ + m * pitch_, *this, g_ + m * g_pitch_);
    }
  }
  template <class Action>
  SLUICE_INLINE void down(const Action& action) {
    for (int m = 2 * lines_.blocks.count - 1; m >= 0; --m) {
      const double upper = lines_.upper[lines_.blocks.bounds[m / 2 + 1] - 1];
      load(m, [&](double across) { return m % 2 == 0 ? across : upper; });
      action(g_ + m * g_pitch_, *this, values_ + m * pitch_);
    }
  }

  SLUICE_INLINE double lower(int r) const { return beside_[r]; }  ///< in solve_up
  SLUICE_INLINE double upper(int r) const { return beside_[r]; }  ///< in down
  SLUICE_INLINE double inverse(int r) const { return inverse_[r]; }

 private:
  template <class Beside>
  SLUICE_INLINE void load(int m, const Beside& beside) {
    const ReducedCoefficient pivot = m % 2 == 0 ? inverse_of_first : inverse_of_last;
    constexpr int components = Lines::components;
    for (int c = 0; c < n_ / components; ++c) {
      const double inverse = lines_.reduced_at(pivot, m / 2, i_ + c, j_);
      const double next = beside(lines_.reduced_at(coupling, m / 2, i_ + c, j_));
      for (int q = 0; q < components; ++q) {
        inverse_[components * c + q] = inverse;
        beside_[components * c + q] = next;
      }
    }
  }

  const Lines& lines_;
  int i_, j_;
  Count n_;
  real* values_;
  std::ptrdiff_t pitch_;
  G* g_;
  std::ptrdiff_t g_pitch_;
  double inverse_[Lanes];
  double beside_[Lanes];  ///< coefficient of the unknown below or above
};

/// The prepared coefficients of one line's reduced system: coefficient `which` of block n.
struct ReducedColumn {
  const double* data;
  std::ptrdiff_t pitch;

  SLUICE_INLINE double at(ReducedCoefficient which, int block) const {
    return data[(reduced_coefficients * block + which) * pitch];
  }
};

SLUICE_INLINE ReducedColumn reduced_column(const ShiftedLines& lines, int i, int j) {
  return {lines.reduced + static_cast<std::ptrdiff_t>(j) * lines.lines_in_row + i, lines.lines};
}
SLUICE_INLINE ReducedColumn reduced_column(const TableLines& lines, int /*i*/, int /*j*/) {
  return {lines.reduced, 1};
}

/// Matrix coefficients of a few blocks of a reduced system, read together so that the reads overlap.
struct ReducedGroup {
  static constexpr int blocks = 4;

  double of_first[blocks] = {}, of_last[blocks] = {}, across[blocks] = {};
  double lower[blocks] = {}, upper[blocks] = {}, back[blocks] = {};

  SLUICE_INLINE ReducedGroup(const LineRows& rows, const ReducedColumn& column, int start) {
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
  /// Coefficients of row m of the group.
  SLUICE_INLINE ChainRow row(int m) const {
    const int n = m / 2;
    return m % 2 == 0 ? ChainRow{lower[n], across[n], of_first[n]} : ChainRow{back[n], upper[n], of_last[n]};
  }
};

/// The reduced system of a pack of lines, for a GPU thread; with `ends_known`, without the lowest and highest unknown.
/// `g` stores the thread's intermediate values.
template <int Lanes>
struct ReducedChain {
  static constexpr int in_group = 2 * ReducedGroup::blocks;

  const LineRows& rows;
  ReducedColumn column;
  bool ends_known;
  real* values;
  std::ptrdiff_t pitch;
  double* g;
  std::ptrdiff_t g_pitch;

  template <class Action>
  SLUICE_INLINE void up(const Action& action) {
    double weight = 1;
    solve_up([&](const auto& d, ChainRow c, auto&& /*kept*/) {
      c.of_weight = weight;
      action(d, c);
      weight *= -c.of_upper * c.of_inverse;
    });
  }
  template <class Action>
  SLUICE_INLINE void solve_up(const Action& action) {
    for (int start = 0; start < rows.blocks.count; start += ReducedGroup::blocks) {
      LanePack<Lanes> rhs[in_group] = {};
      SLUICE_UNROLL
      for (int m = 0; m < in_group; ++m) {
        if (2 * start + m < 2 * rows.blocks.count) rhs[m] = pack_at<Lanes>(values + (2 * start + m) * pitch);
      }
      const ReducedGroup group(rows, column, start);
      SLUICE_UNROLL
      for (int m = 0; m < in_group; ++m) {
        if (has(2 * start + m)) action(rhs[m], group.row(m), g + (2 * start + m) * g_pitch);
      }
    }
  }
  template <class Action>
  SLUICE_INLINE void down(const Action& action) {
    constexpr int blocks = ReducedGroup::blocks;
    for (int start = (rows.blocks.count - 1) / blocks * blocks; start >= 0; start -= blocks) {
      const ReducedGroup group(rows, column, start);
      LanePack<Lanes> solution[in_group] = {};
      SLUICE_UNROLL
      for (int m = in_group - 1; m >= 0; --m) {
        if (has(2 * start + m)) action(g + (2 * start + m) * g_pitch, group.row(m), solution[m]);
      }
      SLUICE_UNROLL
      for (int m = 0; m < in_group; ++m) {
        if (has(2 * start + m)) pack_at<Lanes>(values + (2 * start + m) * pitch) = solution[m];
      }
    }
  }

 private:
  SLUICE_INLINE bool has(int m) const {
    const int end = 2 * rows.blocks.count;
    return ends_known ? m > 0 && m + 1 < end : m < end;
  }
};

}  // namespace sluice
