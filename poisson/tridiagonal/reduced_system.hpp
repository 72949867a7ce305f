#pragma once
// Systems of block-boundary values: the preparation of their coefficients.
#include <cstddef>

#include "poisson/tridiagonal/lines.hpp"

namespace sluice {

/// The two equations of a chain's neighbours during preparation: the coefficients of x_first in row first, of x_last in
/// row last, and of x_last in row first.
struct BoundaryEquations {
  double first, last, coupling;
};

/// Eliminates a chain, one unknown after another, from the lowest. Right-hand sides are eliminated with exactly the
/// same factors (sweeps.hpp), so that rounding cancels.
struct ChainElimination {
  double inverse, above;  ///< of the current unknown: 1 / pivot, coefficient of the next one
  double weight = 1;
  double from_first, lowest;  ///< values caused by x_first = -1: in the current and in the lowest unknown

  /// Starts with the lowest unknown. below, upper: coefficients of the unknowns below and above.
  SLUICE_INLINE ChainElimination(double below, double diagonal, double upper)
      : inverse(1 / diagonal), above(upper), from_first(below * inverse), lowest(from_first) {}

  SLUICE_INLINE void advance(double below, double diagonal, double upper) {
    weight *= -above * inverse;
    inverse = 1 / (diagonal - below * above * inverse);
    from_first *= -below * inverse;
    lowest += weight * from_first;
    above = upper;
  }

  /// first, last: the original diagonals of these rows; upper, lower: their coefficients towards the chain.
  SLUICE_INLINE BoundaryEquations equations(double first, double upper, double last, double lower) const {
    const double highest = above * inverse;
    return {first - upper * lowest, last - lower * highest, -upper * weight * highest};
  }
};

/// Eliminates the inside of the rows [first, end).
SLUICE_INLINE BoundaryEquations eliminate_block(const LineRows& rows, double shift, int first, int end) {
  const int last = end - 1;
  const double* const diagonal = rows.diagonal;
  if (last == first + 1) return {diagonal[first] + shift, diagonal[last] + shift, rows.upper[first]};
  ChainElimination chain(rows.lower[first + 1], diagonal[first + 1] + shift, rows.upper[first + 1]);
  for (int k = first + 2; k < last; ++k) chain.advance(rows.lower[k], diagonal[k] + shift, rows.upper[k]);
  return chain.equations(diagonal[first] + shift, rows.upper[first], diagonal[last] + shift, rows.lower[last]);
}

/// Eliminates all boundary values of these blocks but the lowest and the highest. Their pivots are those of
/// prepare_reduced with `ends_known`.
SLUICE_INLINE BoundaryEquations eliminate_blocks(const LineRows& rows, double shift) {
  const int count = rows.blocks.count;
  const int* const bounds = rows.blocks.bounds;
  const BoundaryEquations lowest = eliminate_block(rows, shift, bounds[0], bounds[1]);
  if (count == 1) return lowest;
  ChainElimination chain(rows.symmetry[0] * lowest.coupling, lowest.last, rows.upper[bounds[1] - 1]);
  for (int block = 1; block + 1 < count; ++block) {
    const BoundaryEquations equations = eliminate_block(rows, shift, bounds[block], bounds[block + 1]);
    chain.advance(rows.lower[bounds[block]], equations.first, equations.coupling);
    chain.advance(rows.symmetry[block] * equations.coupling, equations.last, rows.upper[bounds[block + 1] - 1]);
  }
  const BoundaryEquations highest = eliminate_block(rows, shift, bounds[count - 1], bounds[count]);
  chain.advance(rows.lower[bounds[count - 1]], highest.first, highest.coupling);
  return chain.equations(lowest.first, lowest.coupling, highest.last, rows.symmetry[count - 1] * highest.coupling);
}

/// The system of block-boundary values of a line, to be prepared.
struct ReducedSystem {
  LineRows rows;         ///< with the blocks of the system
  LineRows solved;       ///< with the blocks that are eliminated row by row
  const int* condensed;  ///< block n of the system consists of solved blocks [condensed[n], condensed[n + 1]); null: of
                         ///< block n
  bool ends_known;       ///< whether the lowest and the highest value are known; their 1 / pivot is set to 0

  /// For a line whose diagonal is shifted by `shift`. Coefficient q of block n goes to
  /// out[(reduced_coefficients * n + q) * stride].
  SLUICE_INLINE void prepare(double shift, double singular_flux, double* out, std::ptrdiff_t stride) const {
    double from_below = 0;  // upper / pivot of the last row of the block below
    for (int block = 0; block < rows.blocks.count; ++block) {
      const int first = rows.blocks.bounds[block];
      const int end = rows.blocks.bounds[block + 1];
      const int lowest = condensed ? condensed[block] : block;
      const int count = condensed ? condensed[block + 1] - lowest : 1;
      BoundaryEquations equations = eliminate_blocks(solved.with_blocks(lowest, count), shift);
      if (end == rows.nz) equations.last += singular_flux;
      const bool first_known = ends_known && block == 0;
      const bool last_known = ends_known && block + 1 == rows.blocks.count;
      const double of_first = first_known ? 0 : 1 / (equations.first - rows.lower[first] * from_below);
      const double back = rows.symmetry[block] * equations.coupling;
      const double of_last = last_known ? 0 : 1 / (equations.last - back * equations.coupling * of_first);
      from_below = rows.upper[end - 1] * of_last;
      double* at = out + static_cast<std::ptrdiff_t>(reduced_coefficients) * block * stride;
      at[inverse_of_first * stride] = of_first;
      at[inverse_of_last * stride] = of_last;
      at[coupling * stride] = equations.coupling;
    }
  }
};

/// The two rows of a block in a prepared system.
struct BoundaryRows {
  double of_first = 0, of_last = 0;  ///< 1 / pivot
  double across = 0, back = 0;       ///< coefficient of x_last in row first, of x_first in row last
};

/// Those of the line (i, j).
template <class Lines>
SLUICE_INLINE BoundaryRows boundary_rows(const Lines& lines, int block, int i, int j) {
  const double across = lines.reduced_at(coupling, block, i, j);
  return {lines.reduced_at(inverse_of_first, block, i, j), lines.reduced_at(inverse_of_last, block, i, j), across,
          lines.symmetry[block] * across};
}

}  // namespace sluice
