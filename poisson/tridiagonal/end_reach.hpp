#pragma once
// How far a change of the value at an end of a rank's rows reaches into the others.
//
// If d stays as it is and x_0, the value at an end, changes by e_0, the values at distance n change by e_n with
//
//   toward_n e_{n-1} + (diagonal_n + shift) e_n + away_n e_{n+1} = 0,    e_n = ratio_n e_{n-1},
//   ratio_n = -toward_n / (diagonal_n + shift + away_n ratio_{n+1}),
//
// where the other end stays as it is. The rows are diagonally dominant, so that |ratio_n| < 1, and it becomes smaller
// as |shift| grows. From the first n on at which the product of the ratios is below round-off, rows are left as they
// are. By the maximum principle this changes the others by less than that product times e_0.
#include <vector>

#include "poisson/tridiagonal/lines.hpp"

namespace sluice {

/// A rank's rows as seen from one of its ends, n = 0. Step: 1 or -1.
struct RowsFromEnd {
  LineRows rows;
  int end = 0;  ///< row of the grid
  int step = 1;

  SLUICE_INLINE double toward(int n) const { return step > 0 ? rows.lower[end + n] : rows.upper[end - n]; }
  SLUICE_INLINE double away(int n) const { return step > 0 ? rows.upper[end + n] : rows.lower[end - n]; }
  SLUICE_INLINE double diagonal(int n) const { return rows.diagonal[end + n * step]; }

  /// ratio_n from ratio_{n+1}.
  SLUICE_INLINE double ratio(int n, double shift, double next) const {
    return -toward(n) / fma(away(n), next, diagonal(n) + shift);
  }
};

/// EndReach::smallest_shift for the `inner` rows between the ends, in host memory. `largest_shift`: the largest |shift|
/// that occurs, with the sign of the diagonal; where not even that suffices, the entry is infinite.
std::vector<double> smallest_shifts(const RowsFromEnd& from_end, int inner, double largest_shift);

}  // namespace sluice
