#pragma once
// Tridiagonal systems along z, one for each line,
//
//   lower_k x_{k-1} + diagonal_k x_k + upper_k x_{k+1} = d_k,
//
// in the form that kernels use: the coefficients and arrays of a box of lines. A line of the Poisson equation is
// complex: `components` = 2 real numbers with the same coefficients. Coefficients are double.
#include <cmath>
#include <cstddef>

#include "core/support/real.hpp"

namespace sluice {

/// Prepared coefficients of a block's two equations in the reduced system: 1 / pivot of the rows first and last, and
/// the coefficient of x_last in row first. The coefficient of x_first in row last is the latter times the block's
/// `symmetry`.
enum ReducedCoefficient { inverse_of_first, inverse_of_last, coupling, reduced_coefficients };

/// The blocks along z: block n has rows [bounds[n], bounds[n + 1]).
struct BlockBounds {
  const int* bounds = nullptr;
  int count = 0;
};

/// Rows common to all systems, and some or all of their blocks. Device memory, global row index.
struct LineRows {
  const double* lower = nullptr;
  const double* diagonal = nullptr;
  const double* upper = nullptr;
  const double* symmetry = nullptr;  ///< per block, the product of lower_k / upper_{k-1} over its rows but the first
  BlockBounds blocks;
  int nz = 0;
  int first_row = 0, row_count = 0;  ///< the rows of all ranks, or of one
  /// How far the rows of a rank depend on its ends: EndReach::smallest_shift of the first, then of the last.
  const double* reach = nullptr;

  /// The same rows with only `count` of the blocks, from `first` on.
  SLUICE_INLINE LineRows with_blocks(int first, int count) const {
    LineRows rows = *this;
    rows.symmetry += first;
    rows.blocks = {blocks.bounds + first, count};
    return rows;
  }
};

/// The Poisson equation: complex lines, diagonal_k + shift_x(i) + shift_y(j). The line with shift 0 is singular:
/// `singular_flux` is added to its last diagonal, and `moment` gives the mean of its solution, sum_k moment_k d_k.
struct ShiftedLines : LineRows {
  static constexpr int components = 2;
  static constexpr int columns = 3;  ///< coefficients of a row

  const double* shift_x = nullptr;  ///< for this box's lines, local index
  const double* shift_y = nullptr;
  const double* reduced = nullptr;  ///< [block][coefficient][line]
  std::ptrdiff_t lines = 0;
  int lines_in_row = 0;
  double singular_flux = 0;
  const double* moment = nullptr;
  const double* mean_weight = nullptr;  ///< dz_k over the height
  bool holds_singular_line = false;     ///< whether local line (0, 0) is the singular one

  SLUICE_INLINE double shift(int i, int j) const { return shift_x[i] + shift_y[j]; }
  SLUICE_INLINE const double* column(int n) const { return n == 0 ? lower : n == 1 ? upper : diagonal; }
  SLUICE_INLINE double reduced_at(ReducedCoefficient which, int block, int i, int j) const {
    return reduced[(reduced_coefficients * block + which) * lines + static_cast<std::ptrdiff_t>(j) * lines_in_row + i];
  }
};

/// Implicit diffusion: real lines, all with the same coefficients.
struct TableLines : LineRows {
  static constexpr int components = 1;
  static constexpr int columns = 5;
  static constexpr bool holds_singular_line = false;

  const double* inverse = nullptr;  ///< 1 / pivot of each row inside a block
  const double* weight = nullptr;
  const double* from_first = nullptr;  ///< value of each row inside a block, eliminated upwards, for x_first = -1
  const double* reduced = nullptr;     ///< [block][coefficient]

  SLUICE_INLINE double shift(int /*i*/, int /*j*/) const { return 0; }
  SLUICE_INLINE const double* column(int n) const {
    return n == 0 ? lower : n == 1 ? upper : n == 2 ? inverse : n == 3 ? weight : from_first;
  }
  SLUICE_INLINE double reduced_at(ReducedCoefficient which, int block, int /*i*/, int /*j*/) const {
    return reduced[reduced_coefficients * block + which];
  }
};

/// The numbers of a few lanes in one row after another, `pitch` apart.
template <class T>
struct LaneRows {
  T* data = nullptr;
  std::ptrdiff_t pitch = 0;

  SLUICE_INLINE T* row(int m) const { return data + m * pitch; }
  SLUICE_INLINE LaneRows from(int m) const { return {row(m), pitch}; }
};

/// The numbers of a few lanes in the first rows of blocks, 2 n, and in the last ones, 2 n + 1.
template <class T>
struct BlockEnds {
  T* data = nullptr;
  std::ptrdiff_t to_last = 0, to_next_block = 0;

  SLUICE_INLINE T* row(int m) const { return data + m / 2 * to_next_block + m % 2 * to_last; }
};

/// An array of lines: `count` real numbers in a row, neighbours along x, `rows` of them, planes along z.
struct LineArray {
  real* origin = nullptr;
  std::ptrdiff_t stride_y = 0;
  std::ptrdiff_t stride_z = 0;
  int count = 0;
  int rows = 0;

  SLUICE_INLINE real* at(int r, int j, int k) const { return origin + r + j * stride_y + k * stride_z; }
  /// From plane k on.
  SLUICE_INLINE LaneRows<real> from(int r, int j, int k) const { return {at(r, j, k), stride_z}; }
  /// Where each block has two planes for each of `systems` systems, those of one system.
  SLUICE_INLINE BlockEnds<real> block_ends(int r, int j, int system = 0, int systems = 1) const {
    return {at(r, j, 2 * system), stride_z, 2 * systems * stride_z};
  }
};

/// Whether this real number of a row is the first of the singular line.
template <class Lines>
SLUICE_INLINE bool is_singular_line(const Lines& lines, int lane, int j) {
  return lines.holds_singular_line && j == 0 && lane == 0;
}

/// Sum of moment_k d_k over rows of the singular line's real part: its share of the mean of the solution.
SLUICE_INLINE double moment_of_block(const ShiftedLines& lines, int first, int end, LaneRows<real> d) {
  double sum = 0;
  for (int k = first; k < end; ++k) sum += lines.moment[k] * *d.row(k - first);
  return sum;
}

/// The singular line is real. Each block's share of the mean is therefore sent in place of its imaginary part, lane 1
/// of `values`, to the rank that solves the reduced system.
template <class Rows>
SLUICE_INLINE double take_mean(int blocks, const Rows& values) {
  double mean = 0;
  for (int block = 0; block < blocks; ++block) {
    mean += values.row(2 * block)[1];
    values.row(2 * block)[1] = 0;
    values.row(2 * block + 1)[1] = 0;
  }
  return mean;
}

/// Subtracting the mean from the boundary values is enough: a constant solves the homogeneous equations, so interior
/// values shift too.
template <class Rows>
SLUICE_INLINE void subtract_mean(double mean, int blocks, const Rows& values) {
  for (int n = 0; n < 2 * blocks; ++n) *values.row(n) = static_cast<real>(*values.row(n) - mean);
}

/// Neighbouring real numbers along x, loaded and stored in one access; must be aligned to its size.
template <int Lanes>
struct alignas(static_cast<std::size_t>(Lanes) * sizeof(real)) LanePack {
  real lane[Lanes];

  SLUICE_INLINE real& operator[](int r) { return lane[r]; }
  SLUICE_INLINE real operator[](int r) const { return lane[r]; }
};

template <int Lanes>
SLUICE_INLINE LanePack<Lanes>& pack_at(real* address) {
  return *reinterpret_cast<LanePack<Lanes>*>(address);
}

template <int Lanes>
SLUICE_INLINE const LanePack<Lanes>& pack_at(const real* address) {
  return *reinterpret_cast<const LanePack<Lanes>*>(address);
}

}  // namespace sluice
