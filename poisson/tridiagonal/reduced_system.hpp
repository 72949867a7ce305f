#pragma once
// How the systems of block-boundary values are prepared: the coefficients that solve_reduced and condense take.
#include <cstddef>

#include "poisson/tridiagonal/tridiagonal_sweeps.hpp"

namespace sluice {

/// Eliminates the rows [first, end) of one line and gives its two boundary equations: the coefficients of
/// x_first in row first and of x_last in row last, and of x_last in row first. Used when systems are
/// prepared.
struct BoundaryEquations {
  double first, last, coupling;
};

SLUICE_INLINE BoundaryEquations eliminate_block(const double* lower, const double* diagonal, const double* upper,
                                                double shift, int first, int end) {
  const int last = end - 1;
  if (last == first + 1) return {diagonal[first] + shift, diagonal[last] + shift, upper[first]};
  double inverse = 1 / (diagonal[first + 1] + shift);
  double weight = 1;
  double from_first = lower[first + 1] * inverse;  // interior values that x_first = -1 causes, row by row
  double lowest = from_first;
  for (int k = first + 2; k < last; ++k) {
    weight *= -upper[k - 1] * inverse;
    inverse = 1 / (diagonal[k] + shift - lower[k] * upper[k - 1] * inverse);
    from_first *= -lower[k] * inverse;
    lowest += weight * from_first;
  }
  const double highest = upper[last - 1] * inverse;
  return {diagonal[first] + shift - upper[first] * lowest, diagonal[last] + shift - lower[last] * highest,
          -upper[first] * weight * highest};
}

/// The rows with `count` of their blocks only, from `first` on.
template <class Lines>
SLUICE_INLINE Lines narrowed_to(Lines lines, int first, int count) {
  lines.blocks.bounds += first;
  lines.blocks.count = count;
  lines.symmetry += first;
  return lines;
}

/// Prepares the system of block-boundary values of one line from the equations of its blocks, equations_of(block).
/// Coefficient q of block n goes to out[(reduced_coefficients * n + q) * stride]. With `ends_known`, the lowest and the
/// highest value are no unknowns: their 1 / pivot is given as 0.
template <class EquationsOf>
SLUICE_INLINE void prepare_reduced(const LineRows& rows, double leak, double* out, std::ptrdiff_t stride,
                                   bool ends_known, const EquationsOf& equations_of) {
  double from_below = 0;  // upper / pivot of the last row of the block below
  for (int block = 0; block < rows.blocks.count; ++block) {
    const int first = rows.blocks.bounds[block];
    const int end = rows.blocks.bounds[block + 1];
    BoundaryEquations equations = equations_of(block);
    if (end == rows.nz) equations.last += leak;
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

/// Of blocks of rows, the diagonal shifted by `shift`.
struct EquationsOfRows {
  const LineRows& rows;
  double shift;
  SLUICE_INLINE BoundaryEquations operator()(int block) const {
    return eliminate_block(rows.lower, rows.diagonal, rows.upper, shift, rows.blocks.bounds[block],
                           rows.blocks.bounds[block + 1]);
  }
};

/// Eliminates all boundary values of these blocks but the lowest and the highest: the same as eliminate_block for the
/// chain of unknowns last of block 0, first and last of block 1, and so on, whose pivots are those that prepare_reduced
/// finds with `ends_known`. A right-hand side is eliminated with the very same factors, so that their rounding cancels.
SLUICE_INLINE BoundaryEquations eliminate_chain(const LineRows& rows, double shift) {
  const EquationsOfRows equations_of{rows, shift};
  const int count = rows.blocks.count;
  const BoundaryEquations lowest_block = equations_of(0);
  if (count == 1) return lowest_block;
  double pivot = 1 / lowest_block.last;
  double weight = 1;
  double from_first = rows.symmetry[0] * lowest_block.coupling * pivot;  // values that x_first = -1 causes
  double lowest = from_first;
  double above = rows.upper[rows.blocks.bounds[1] - 1];  // the unknown's coefficient of the next one
  BoundaryEquations highest_block = lowest_block;
  for (int block = 1; block < count; ++block) {
    highest_block = equations_of(block);
    const double below = rows.lower[rows.blocks.bounds[block]];
    weight *= -above * pivot;
    pivot = 1 / (highest_block.first - below * above * pivot);
    from_first *= -below * pivot;
    lowest += weight * from_first;
    above = highest_block.coupling;
    if (block + 1 == count) break;
    const double back = rows.symmetry[block] * highest_block.coupling;
    weight *= -above * pivot;
    pivot = 1 / (highest_block.last - back * above * pivot);
    from_first *= -back * pivot;
    lowest += weight * from_first;
    above = rows.upper[rows.blocks.bounds[block + 1] - 1];
  }
  const double highest = above * pivot;
  const double back = rows.symmetry[count - 1] * highest_block.coupling;
  return {lowest_block.first - lowest_block.coupling * lowest, highest_block.last - back * highest,
          -lowest_block.coupling * weight * highest};
}

/// Of the blocks of one rank after another, condensed: rank n has the blocks [first_blocks[n], first_blocks[n + 1]).
struct EquationsOfCondensed {
  const LineRows& rows;  ///< with all blocks
  const int* first_blocks;
  double shift;
  SLUICE_INLINE BoundaryEquations operator()(int rank) const {
    return eliminate_chain(narrowed_to(rows, first_blocks[rank], first_blocks[rank + 1] - first_blocks[rank]), shift);
  }
};

}  // namespace sluice
