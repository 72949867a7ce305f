#pragma once
// The arithmetic of tridiagonal systems along z, written once for CPU and GPU, for the Poisson equation and
// for implicit diffusion.
//
// A line is one system; a bundle is `Lanes` neighbouring real numbers along x, worked on together: many on a
// CPU, where the loops over lanes vectorise, and one line on a GPU, where neighbouring threads have
// neighbouring lines. A line of the Poisson equation is a complex number, that is `components` = 2 lanes with
// the same coefficients. Coefficients and arithmetic are double.
//
//   lower_k x_{k-1} + diagonal_k x_k + upper_k x_{k+1} = d_k
//
// A block of rows first, ..., last is eliminated as in Diez Sanhueza et al. 2025, Algorithm 2, in a form that
// reads d once and keeps nothing: with the pivots b_k = diagonal_k - lower_k upper_{k-1} / b_{k-1} of the
// rows between first and last,
//
//   g_k = (d_k - lower_k g_{k-1}) / b_k,        weight_{k+1} = -weight_k upper_k / b_k, weight_{first+1} = 1,
//
// the interior solution that belongs to x_first = x_last = 0 has g_{last-1} as its highest value and sum_k
// weight_k g_k as its lowest. These two turn the rows first and last into equations for the values at block
// boundaries alone.
#include <cstddef>

#include "core/support/real.hpp"

namespace sluice {

/// Coefficients of an equation for two values at block boundaries that are prepared once: 1 / pivot of the
/// rows first and last, and the coefficient of x_last in row first. Row last's coefficient of x_first is the
/// latter times the block's `symmetry`.
enum ReducedCoefficient { inverse_of_first, inverse_of_last, coupling, reduced_coefficients };

/// How z is cut: block n has rows [bounds[n], bounds[n + 1]).
struct BlockBounds {
  const int* bounds = nullptr;
  int count = 0;
};

/// Rows common to all systems. Device memory, global row index.
struct LineRows {
  const double* lower = nullptr;
  const double* diagonal = nullptr;
  const double* upper = nullptr;
  const double* symmetry =
      nullptr;  ///< for each block, the product of lower_k / upper_{k-1} over its rows but the first
  BlockBounds blocks;
  int nz = 0;
};

/// The Poisson equation: complex lines, diagonal_k + shift_x(i) + shift_y(j). One of them is singular (shift
/// 0): there `leak` is added to the last diagonal, and `moment` gives the mean of its solution, sum_k
/// moment_k d_k.
struct ShiftedLines : LineRows {
  static constexpr int components = 2;

  const double* shift_x = nullptr;  ///< of this box's lines, local index
  const double* shift_y = nullptr;
  const double* reduced = nullptr;  ///< [block][coefficient][line]
  std::ptrdiff_t lines = 0;
  int lines_in_row = 0;
  double leak = 0;
  const double* moment = nullptr;
  const double* mean_weight = nullptr;  ///< dz_k over the height
  bool holds_singular_line = false;     ///< whether local line (0, 0) is the singular one

  SLUICE_INLINE double reduced_at(ReducedCoefficient which, int block, int i, int j) const {
    return reduced[(reduced_coefficients * block + which) * lines + static_cast<std::ptrdiff_t>(j) * lines_in_row + i];
  }
};

/// Implicit diffusion: real lines which all have the same coefficients.
struct TableLines : LineRows {
  static constexpr int components = 1;
  static constexpr bool holds_singular_line = false;

  const double* inverse = nullptr;  ///< 1 / pivot of each row inside a block
  const double* weight = nullptr;
  const double* reduced = nullptr;  ///< [block][coefficient]

  SLUICE_INLINE double reduced_at(ReducedCoefficient which, int block, int /*i*/, int /*j*/) const {
    return reduced[reduced_coefficients * block + which];
  }
};

/// Where a bundle can put one row of numbers for each plane: row k at data + k * pitch.
struct RowStore {
  double* data = nullptr;
  std::ptrdiff_t pitch = 0;
};

/// 1 / pivot and weight while a bundle's elimination goes up through a block.
template <class Lines, int Lanes>
class Pivots;

template <int Lanes>
class Pivots<ShiftedLines, Lanes> {
 public:
  /// For the bundle whose first line is (i, j), `n` lanes; `store` keeps the pivots of `first_kept` and the
  /// rows above.
  SLUICE_INLINE Pivots(const ShiftedLines& lines, int i, int j, int n, RowStore store, int first_kept)
      : lines_(lines), store_(store), first_kept_(first_kept), n_(n / 2) {
    for (int c = 0; c < n_; ++c) shift_[c] = lines.shift_x[i + c] + lines.shift_y[j];
  }

  /// The lowest row of an elimination.
  template <class Count>
  SLUICE_INLINE void start(int k, Count n) {
    for (int c = 0; c < n / 2; ++c) of_line_[c] = 1 / (lines_.diagonal[k] + shift_[c]);
    for (int r = 0; r < n; ++r) weight_[r] = 1;
    spread(n);
  }

  template <class Count>
  SLUICE_INLINE void advance(int k, Count n) {
    const double product = lines_.lower[k] * lines_.upper[k - 1];
    const double upper = lines_.upper[k - 1];
    for (int r = 0; r < n; ++r) weight_[r] *= -upper * inverse_[r];
    if (k + 1 == lines_.nz) {
      for (int c = 0; c < n / 2; ++c) {
        of_line_[c] = 1 / (lines_.diagonal[k] + shift_[c] + (shift_[c] == 0 ? lines_.leak : 0) - product * of_line_[c]);
      }
    } else {
      for (int c = 0; c < n / 2; ++c) of_line_[c] = 1 / (lines_.diagonal[k] + shift_[c] - product * of_line_[c]);
    }
    spread(n);
  }

  template <class Count>
  SLUICE_INLINE void keep(int k, Count n) {
    double* row = store_.data + (k - first_kept_) * store_.pitch;
    for (int c = 0; c < n / 2; ++c) row[c] = of_line_[c];
  }

  template <class Count>
  SLUICE_INLINE void recall(int k, Count n) {
    const double* row = store_.data + (k - first_kept_) * store_.pitch;
    for (int c = 0; c < n / 2; ++c) {
      inverse_[2 * c] = row[c];
      inverse_[2 * c + 1] = row[c];
    }
  }

  SLUICE_INLINE double inverse(int r) const { return inverse_[r]; }
  SLUICE_INLINE double weight(int r) const { return weight_[r]; }

 private:
  template <class Count>
  SLUICE_INLINE void spread(Count n) {
    for (int c = 0; c < n / 2; ++c) {
      inverse_[2 * c] = of_line_[c];
      inverse_[2 * c + 1] = of_line_[c];
    }
  }

  const ShiftedLines& lines_;
  RowStore store_;
  int first_kept_;
  int n_;
  double shift_[Lanes / 2] = {};
  double of_line_[Lanes / 2] = {};
  double inverse_[Lanes] = {};
  double weight_[Lanes] = {};
};

template <int Lanes>
class Pivots<TableLines, Lanes> {
 public:
  SLUICE_INLINE Pivots(const TableLines& lines, int /*i*/, int /*j*/, int /*n*/, RowStore /*store*/, int /*first_kept*/)
      : lines_(lines) {}

  template <class Count>
  SLUICE_INLINE void start(int k, Count /*n*/) {
    now(k);
  }
  template <class Count>
  SLUICE_INLINE void advance(int k, Count /*n*/) {
    now(k);
  }
  template <class Count>
  SLUICE_INLINE void keep(int /*k*/, Count /*n*/) {}
  template <class Count>
  SLUICE_INLINE void recall(int k, Count /*n*/) {
    now(k);
  }
  SLUICE_INLINE double inverse(int /*r*/) const { return inverse_; }
  SLUICE_INLINE double weight(int /*r*/) const { return weight_; }

 private:
  SLUICE_INLINE void now(int k) {
    inverse_ = lines_.inverse[k];
    weight_ = lines_.weight[k];
  }

  const TableLines& lines_;
  double inverse_ = 0;
  double weight_ = 0;
};

/// First pass over a block of rows [first, end): the right-hand sides of its two boundary equations. `d` is
/// row `first` of the bundle. With `Keep`, the pivots are kept for solve_between.
template <bool Keep, int Lanes, class Lines, class Count>
SLUICE_INLINE void form_boundary(const Lines& lines, Pivots<Lines, Lanes>& pivots, int first, int end, const real* d,
                                 std::ptrdiff_t stride, Count n, real* first_rhs, real* last_rhs) {
  double g[Lanes];
  double lowest[Lanes];
  for (int r = 0; r < n; ++r) g[r] = lowest[r] = 0;
  for (int k = first + 1; k < end - 1; ++k) {
    if (k == first + 1) {
      pivots.start(k, n);
    } else {
      pivots.advance(k, n);
    }
    if constexpr (Keep) pivots.keep(k, n);
    const real* row = d + (k - first) * stride;
    const double lower = lines.lower[k];
    for (int r = 0; r < n; ++r) {
      g[r] = (row[r] - lower * g[r]) * pivots.inverse(r);
      lowest[r] += pivots.weight(r) * g[r];
    }
  }
  const real* last = d + (end - 1 - first) * stride;
  const double upper_first = lines.upper[first];
  const double lower_last = lines.lower[end - 1];
  for (int r = 0; r < n; ++r) {
    first_rhs[r] = static_cast<real>(d[r] - upper_first * lowest[r]);
    last_rhs[r] = static_cast<real>(last[r] - lower_last * g[r]);
  }
}

/// Solves for the rows [first, end) of a bundle in place, the values `before` and `after` them known (in `x`
/// itself they are not read). `x` is row `first`. `g` is room for the rows' intermediate values; it may be x
/// itself. With `Recall`, the pivots were kept by form_boundary.
template <bool Recall, int Lanes, class Lines, class G, class Count>
SLUICE_INLINE void solve_between(const Lines& lines, Pivots<Lines, Lanes>& pivots, int first, int end, real* x,
                                 std::ptrdiff_t stride, Count n, const double* before, const double* after, G* g,
                                 std::ptrdiff_t g_pitch) {
  double value[Lanes];
  for (int r = 0; r < n; ++r) value[r] = before[r];
  for (int k = first; k < end; ++k) {
    if constexpr (Recall) {
      pivots.recall(k, n);
    } else if (k == first) {
      pivots.start(k, n);
      pivots.keep(k, n);
    } else {
      pivots.advance(k, n);
      pivots.keep(k, n);
    }
    const real* row = x + (k - first) * stride;
    G* kept = g + (k - first) * g_pitch;
    const double lower = lines.lower[k];
    for (int r = 0; r < n; ++r) {
      value[r] = (row[r] - lower * value[r]) * pivots.inverse(r);
      kept[r] = static_cast<G>(value[r]);
    }
  }
  for (int r = 0; r < n; ++r) value[r] = after[r];
  for (int k = end - 1; k >= first; --k) {
    pivots.recall(k, n);
    real* row = x + (k - first) * stride;
    const G* kept = g + (k - first) * g_pitch;
    const double upper = lines.upper[k];
    for (int r = 0; r < n; ++r) {
      value[r] = kept[r] - upper * pivots.inverse(r) * value[r];
      row[r] = static_cast<real>(value[r]);
    }
  }
}

/// Solves the system of all 2 N block-boundary values of a bundle in place: values[2 n] belongs to the first
/// row of block n, values[2 n + 1] to its last. (i, j) is the bundle's first line; `g` is room for
/// intermediate values, it may be `values` itself.
template <int Lanes, class Lines, class G, class Count>
SLUICE_INLINE void solve_reduced(const Lines& lines, int i, int j, real* values, std::ptrdiff_t pitch, Count n, G* g,
                                 std::ptrdiff_t g_pitch) {
  constexpr int components = Lines::components;
  const int count = lines.blocks.count;
  double value[Lanes];
  for (int r = 0; r < n; ++r) value[r] = 0;
  for (int block = 0; block < count; ++block) {
    const double lower = lines.lower[lines.blocks.bounds[block]];
    const double symmetry = lines.symmetry[block];
    const real* first = values + 2 * block * pitch;
    const real* last = first + pitch;
    G* kept = g + 2 * block * g_pitch;
    for (int c = 0; c < n / components; ++c) {
      const double of_first = lines.reduced_at(inverse_of_first, block, i + c, j);
      const double of_last = lines.reduced_at(inverse_of_last, block, i + c, j);
      const double back = symmetry * lines.reduced_at(coupling, block, i + c, j);
      for (int q = 0; q < components; ++q) {
        const int r = components * c + q;
        const double lowest = (first[r] - lower * value[r]) * of_first;
        kept[r] = static_cast<G>(lowest);
        value[r] = (last[r] - back * lowest) * of_last;
        kept[g_pitch + r] = static_cast<G>(value[r]);
      }
    }
  }
  for (int r = 0; r < n; ++r) value[r] = 0;
  for (int block = count - 1; block >= 0; --block) {
    const double upper = lines.upper[lines.blocks.bounds[block + 1] - 1];
    real* first = values + 2 * block * pitch;
    real* last = first + pitch;
    const G* kept = g + 2 * block * g_pitch;
    for (int c = 0; c < n / components; ++c) {
      const double of_first = lines.reduced_at(inverse_of_first, block, i + c, j);
      const double of_last = lines.reduced_at(inverse_of_last, block, i + c, j);
      const double ahead = lines.reduced_at(coupling, block, i + c, j);
      for (int q = 0; q < components; ++q) {
        const int r = components * c + q;
        const double highest = kept[g_pitch + r] - upper * of_last * value[r];
        last[r] = static_cast<real>(highest);
        value[r] = kept[r] - ahead * of_first * highest;
        first[r] = static_cast<real>(value[r]);
      }
    }
  }
}

}  // namespace sluice
