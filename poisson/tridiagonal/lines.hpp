#pragma once
// Tridiagonal systems along z, one for each line,
//
//   lower_k x_{k-1} + diagonal_k x_k + upper_k x_{k+1} = d_k,
//
// as kernels see them: the coefficients and arrays of a box of lines. A line of the Poisson equation is a complex
// number, that is `components` = 2 real numbers with the same coefficients. Coefficients are double.
#include <cstddef>

#include "core/support/real.hpp"

namespace sluice {

/// Coefficients of the two equations of a block in the reduced system that are prepared once: 1 / pivot of the rows
/// first and last, and the coefficient of x_last in row first. Row last's coefficient of x_first is the latter times
/// the block's `symmetry`.
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
      nullptr;  ///< of each block, the product of lower_k / upper_{k-1} over its rows but the first
  BlockBounds blocks;
  int nz = 0;
};

/// The Poisson equation: complex lines, diagonal_k + shift_x(i) + shift_y(j). One of them is singular (shift
/// 0): there `singular_flux` is added to the last diagonal, and `moment` gives the mean of its solution, sum_k
/// moment_k d_k.
struct ShiftedLines : LineRows {
  static constexpr int components = 2;

  const double* shift_x = nullptr;  ///< of this box's lines, local index
  const double* shift_y = nullptr;
  const double* reduced = nullptr;  ///< [block][coefficient][line]
  std::ptrdiff_t lines = 0;
  int lines_in_row = 0;
  double singular_flux = 0;
  const double* moment = nullptr;
  const double* mean_weight = nullptr;  ///< dz_k over the height
  bool holds_singular_line = false;     ///< whether local line (0, 0) is the singular one

  SLUICE_INLINE double shift(int i, int j) const { return shift_x[i] + shift_y[j]; }
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

  SLUICE_INLINE double shift(int /*i*/, int /*j*/) const { return 0; }
  SLUICE_INLINE double reduced_at(ReducedCoefficient which, int block, int /*i*/, int /*j*/) const {
    return reduced[reduced_coefficients * block + which];
  }
};

/// The rows with `count` of their blocks only, from `first` on.
template <class Lines>
SLUICE_INLINE Lines narrowed_to(Lines lines, int first, int count) {
  lines.blocks.bounds += first;
  lines.blocks.count = count;
  lines.symmetry += first;
  return lines;
}

/// Whether this real number of a row begins the singular line.
template <class Lines>
SLUICE_INLINE bool is_singular_line(const Lines& lines, int lane, int j) {
  return lines.holds_singular_line && j == 0 && lane == 0;
}

/// An array of lines: `count` real numbers in a row, neighbours along x, `rows` of them, planes along z.
struct LineArray {
  real* origin = nullptr;
  std::ptrdiff_t stride_y = 0;
  std::ptrdiff_t stride_z = 0;
  int count = 0;
  int rows = 0;

  SLUICE_INLINE real* at(int r, int j, int k) const { return origin + r + j * stride_y + k * stride_z; }
};

/// Neighbouring real numbers along x that move in one access; their address must be a multiple of their size.
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
