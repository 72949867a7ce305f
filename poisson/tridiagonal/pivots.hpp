#pragma once
// Coefficients of the rows inside a block while a bundle of `Lanes` neighbouring real numbers passes through it: from
// tables, or pivots computed on the fly.
#include "core/device/parallel_for.hpp"
#include "poisson/tridiagonal/lines.hpp"
#include "poisson/tridiagonal/sweeps.hpp"

namespace sluice {

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

/// Storage of a bundle for one row of numbers per plane: row k at data + k * pitch.
struct RowStore {
  double* data = nullptr;
  std::ptrdiff_t pitch = 0;
};

/// The rows of the pivots. streamed: only rows inside blocks, computed by reciprocal().
enum class PivotRows { all, streamed };

template <class Lines, int Lanes, PivotRows Rows = PivotRows::all>
class Pivots;

template <int Lanes, PivotRows Rows>
class Pivots<ShiftedLines, Lanes, Rows> {
 public:
  /// For the bundle of `n` lanes whose first line is (i, j); `store` keeps the pivots from row `first_kept` upwards.
  template <class Count>
  SLUICE_INLINE Pivots(const ShiftedLines& lines, int i, int j, Count n, RowStore store = {}, int first_kept = 0)
      : lines_(lines), store_(store), first_kept_(first_kept) {
    for (int c = 0; c < n / 2; ++c) shift_[c] = lines.shift(i + c, j);
  }

  /// Advances to row k from the row below, or starts an elimination with it as the lowest row.
  template <class Count>
  SLUICE_INLINE void advance(bool lowest, int k, Count n) {
    if (lowest) {
      for (int c = 0; c < n / 2; ++c) of_line_[c] = inverse_of(lines_.diagonal[k] + shift_[c]);
      for (int c = 0; c < n / 2; ++c) weight_of_line_[c] = 1;
    } else {
      const double upper = lines_.upper[k - 1];
      const double product = lines_.lower[k] * upper;
      for (int c = 0; c < n / 2; ++c) weight_of_line_[c] *= -upper * of_line_[c];
      const double flux = Rows == PivotRows::all && k + 1 == lines_.nz ? lines_.singular_flux : 0;
      if (flux != 0) {
        for (int c = 0; c < n / 2; ++c) {
          const double diagonal = lines_.diagonal[k] + shift_[c] + (shift_[c] == 0 ? flux : 0);
          of_line_[c] = inverse_of(multiply_add(-product, of_line_[c], diagonal));
        }
      } else {
        for (int c = 0; c < n / 2; ++c)
          of_line_[c] = inverse_of(multiply_add(-product, of_line_[c], lines_.diagonal[k] + shift_[c]));
      }
    }
    for (int c = 0; c < n / 2; ++c) weight_[2 * c] = weight_[2 * c + 1] = weight_of_line_[c];
    spread(k, of_line_, n);
  }

  template <class Count>
  SLUICE_INLINE void keep(int k, Count n) {
    double* row = store_.data + (k - first_kept_) * store_.pitch;
    for (int c = 0; c < n / 2; ++c) row[c] = of_line_[c];
  }

  template <class Count>
  SLUICE_INLINE void recall(int k, Count n) {
    spread(k, store_.data + (k - first_kept_) * store_.pitch, n);
  }

  SLUICE_INLINE double lower(int /*r*/) const { return lower_; }
  SLUICE_INLINE double upper(int /*r*/) const { return upper_; }
  SLUICE_INLINE double inverse(int r) const { return inverse_[r]; }
  SLUICE_INLINE double weight(int r) const { return weight_[r]; }

 private:
  SLUICE_INLINE static double inverse_of(double x) {
    if constexpr (Rows == PivotRows::streamed) {
      return reciprocal(x);
    } else {
      return 1 / x;
    }
  }

  template <class Count>
  SLUICE_INLINE void spread(int k, const double* of_lines, Count n) {
    lower_ = lines_.lower[k];
    upper_ = lines_.upper[k];
    for (int c = 0; c < n / 2; ++c) inverse_[2 * c] = inverse_[2 * c + 1] = of_lines[c];
  }

  const ShiftedLines& lines_;
  RowStore store_;
  int first_kept_;
  double lower_ = 0, upper_ = 0;
  double shift_[Lanes / 2] = {};
  double of_line_[Lanes / 2] = {};
  double weight_of_line_[Lanes / 2] = {};
  double inverse_[Lanes] = {};
  double weight_[Lanes] = {};
};

template <int Lanes, PivotRows Rows>
class Pivots<TableLines, Lanes, Rows> {
 public:
  template <class Count>
  SLUICE_INLINE Pivots(const TableLines& lines, int /*i*/, int /*j*/, Count /*n*/, RowStore /*store*/ = {},
                       int /*first_kept*/ = 0)
      : lines_(lines) {}

  template <class Count>
  SLUICE_INLINE void advance(bool /*lowest*/, int k, Count n) {
    recall(k, n);
  }
  template <class Count>
  SLUICE_INLINE void keep(int /*k*/, Count /*n*/) {}
  template <class Count>
  SLUICE_INLINE void recall(int k, Count /*n*/) {
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

}  // namespace sluice
