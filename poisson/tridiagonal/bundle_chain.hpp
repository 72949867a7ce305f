#pragma once
// The rows of a bundle of lines, for the functions of sweeps.hpp. A bundle is a group of `Lanes` neighbouring real
// numbers along x: many on a CPU, where the loops over lanes vectorise; one line on a GPU.
#include "core/device/parallel_for.hpp"
#include "poisson/tridiagonal/lines.hpp"
#include "poisson/tridiagonal/sweeps.hpp"

namespace sluice {

/// Coefficients of one row after another, from the lowest: from tables, or with pivots computed on the fly.
template <class Lines, int Lanes>
class Pivots;

template <int Lanes>
class Pivots<ShiftedLines, Lanes> {
 public:
  /// For the bundle of `n` lanes whose first line is (i, j).
  template <class Count>
  SLUICE_INLINE Pivots(const ShiftedLines& lines, int i, int j, Count n) : lines_(lines) {
    for (int c = 0; c < n / 2; ++c) shift_[c] = lines.shift(i + c, j);
  }

  /// Advances to row k from the row below, or starts an elimination with it as the lowest row.
  template <class Count>
  SLUICE_INLINE void advance(bool lowest, int k, Count n) {
    if (lowest) {
      for (int c = 0; c < n / 2; ++c) of_line_[c] = reciprocal(lines_.diagonal[k] + shift_[c]);
      for (int r = 0; r < n; ++r) weight_[r] = 1;
    } else {
      const double upper = lines_.upper[k - 1];
      const double product = lines_.lower[k] * upper;
      for (int r = 0; r < n; ++r) weight_[r] *= -upper * inverse_[r];
      const double flux = k + 1 == lines_.nz ? lines_.singular_flux : 0;
      if (flux != 0) {
        for (int c = 0; c < n / 2; ++c) {
          const double diagonal = lines_.diagonal[k] + shift_[c] + (shift_[c] == 0 ? flux : 0);
          of_line_[c] = reciprocal(multiply_add(-product, of_line_[c], diagonal));
        }
      } else {
        for (int c = 0; c < n / 2; ++c)
          of_line_[c] = reciprocal(multiply_add(-product, of_line_[c], lines_.diagonal[k] + shift_[c]));
      }
    }
    spread(k, of_line_, n);
  }

  /// Stores the pivots of the current row, for recall().
  template <class Count>
  SLUICE_INLINE void keep(double* kept, Count n) const {
    for (int c = 0; c < n / 2; ++c) kept[c] = of_line_[c];
  }
  template <class Count>
  SLUICE_INLINE void recall(int k, const double* kept, Count n) {
    spread(k, kept, n);
  }

  SLUICE_INLINE double lower(int /*r*/) const { return lower_; }
  SLUICE_INLINE double upper(int /*r*/) const { return upper_; }
  SLUICE_INLINE double inverse(int r) const { return inverse_[r]; }
  SLUICE_INLINE double weight(int r) const { return weight_[r]; }

 private:
  template <class Count>
  SLUICE_INLINE void spread(int k, const double* of_lines, Count n) {
    lower_ = lines_.lower[k];
    upper_ = lines_.upper[k];
    for (int c = 0; c < n / 2; ++c) inverse_[2 * c] = inverse_[2 * c + 1] = of_lines[c];
  }

  const ShiftedLines& lines_;
  double lower_ = 0, upper_ = 0;
  double shift_[Lanes / 2] = {};
  double of_line_[Lanes / 2] = {};
  double inverse_[Lanes] = {};
  double weight_[Lanes] = {};
};

template <int Lanes>
class Pivots<TableLines, Lanes> {
 public:
  template <class Count>
  SLUICE_INLINE Pivots(const TableLines& lines, int /*i*/, int /*j*/, Count /*n*/) : lines_(lines) {}

  template <class Count>
  SLUICE_INLINE void advance(bool /*lowest*/, int k, Count n) {
    recall(k, nullptr, n);
  }
  template <class Count>
  SLUICE_INLINE void keep(double* /*kept*/, Count /*n*/) const {}
  template <class Count>
  SLUICE_INLINE void recall(int k, const double* /*kept*/, Count /*n*/) {
    lower_ = lines_.lower[k];
    upper_ = lines_.upper[k];
    inverse_ = lines_.inverse[k];
    weight_ = lines_.weight[k];
  }
  SLUICE_INLINE double lower(int /*r*/) const { return lower_; }
  SLUICE_INLINE double upper(int /*r*/) const { return upper_; }
  SLUICE_INLINE double inverse(int /*r*/) const { return inverse_; }
  SLUICE_INLINE double weight(int /*r*/) const { return weight_; }

 private:
  const TableLines& lines_;
  double lower_ = 0, upper_ = 0, inverse_ = 0, weight_ = 0;
};

/// On a CPU, asks for the lanes of a row that are needed soon. The rows of a bundle are too far apart for the processor
/// to foresee them.
template <int Lanes>
SLUICE_INLINE void prefetch_lanes(const real* row) {
  if constexpr (!loops_on_gpu) {
    constexpr int in_line = 64 / sizeof(real);
    SLUICE_UNROLL
    for (int r = 0; r < Lanes; r += in_line) __builtin_prefetch(row + r, 1);
  }
}

/// Rows [first, end) of a bundle. `x` begins with row `first`, and so do `kept`, which stores pivots, and `g`, which
/// stores intermediate values and may be x itself. With `Kept`, up() stores the pivots for the other sweeps.
template <bool Kept, class Lines, int Lanes, class Count, class G>
struct BundleChain {
  Pivots<Lines, Lanes>& pivots;
  Count n;
  int first, end;
  LaneRows<real> x;
  LaneRows<double> kept;
  LaneRows<G> g;
  std::ptrdiff_t to_next = 0;  ///< from a row of x to that of the bundle that follows, or 0

  template <class Action>
  SLUICE_INLINE void up(const Action& action) {
    for (int k = first; k < end; ++k) {
      pivots.advance(k == first, k, n);
      if constexpr (Kept) pivots.keep(kept.row(k - first), n);
      prefetch_lanes<Lanes>(x.row(k - first) + to_next);
      action(x.row(k - first), pivots);
    }
  }
  template <class Action>
  SLUICE_INLINE void solve_up(const Action& action) {
    for (int k = first; k < end; ++k) {
      if constexpr (Kept) {
        pivots.recall(k, kept.row(k - first), n);
      } else {
        pivots.advance(k == first, k, n);
        pivots.keep(kept.row(k - first), n);
        prefetch_lanes<Lanes>(x.row(k - first) + to_next);
      }
      action(x.row(k - first), pivots, g.row(k - first));
    }
  }
  template <class Action>
  SLUICE_INLINE void down(const Action& action) {
    for (int k = end - 1; k >= first; --k) {
      pivots.recall(k, kept.row(k - first), n);
      action(g.row(k - first), pivots, x.row(k - first));
    }
  }
};

/// The Thomas algorithm on the whole lines of a bundle of `n` real numbers of row j, from `lane` on.
template <class Lines, int Lanes, class Count, class G>
SLUICE_INLINE void solve_whole(const Lines& lines, Pivots<Lines, Lanes>& pivots, int lane, int j, Count n,
                               LaneRows<real> x, LaneRows<double> kept, LaneRows<G> g) {
  BundleChain<false, Lines, Lanes, Count, G> all{pivots, n, 0, lines.nz, x, kept, g};
  solve_between<double, Lanes>(all, n, Zeros{}, Zeros{});
  if constexpr (Lines::components == 2) {
    if (!is_singular_line(lines, lane, j)) return;
    double mean = 0;
    for (int k = 0; k < lines.nz; ++k) mean += lines.mean_weight[k] * *x.row(k);
    for (int k = 0; k < lines.nz; ++k) {
      x.row(k)[0] = static_cast<real>(x.row(k)[0] - mean);
      x.row(k)[1] = 0;
    }
  }
}

}  // namespace sluice
