#pragma once
// How far a change of the value at an end of a rank's rows reaches into the others, and what it becomes there.
//
// If d stays as it is and x_0, the value at an end, changes by e_0, the values at distance n change by e_n with
//
//   toward_n e_{n-1} + (diagonal_n + shift) e_n + away_n e_{n+1} = 0,    e_n = ratio_n e_{n-1},
//   ratio_n = -toward_n / (diagonal_n + shift + away_n ratio_{n+1}),
//
// where the other end stays as it is. The rows are diagonally dominant, so that |ratio_n| < 1, and it becomes smaller
// as |shift| grows. From the first n on at which the product of the ratios is below round-off, rows are left as they
// are. By the maximum principle this changes the others by less than that product times e_0. Rows are counted in
// groups, so that threads can change groups independently of each other.
#include <cmath>
#include <vector>

#include "poisson/tridiagonal/lines.hpp"

namespace sluice {

/// For each number of groups of rows, from 1 on, the smallest |shift| for which a change of the end reaches no further.
/// Does not increase.
struct EndReach {
  const double* smallest_shift = nullptr;
  int groups = 0;  ///< of all rows between the ends

  /// How many groups a change reaches; at most all.
  SLUICE_INLINE int of(double shift) const {
    int from = 0;
    int to = groups;
    while (from < to) {
      const int middle = (from + to) / 2;
      if (std::abs(shift) >= smallest_shift[middle]) {
        to = middle;
      } else {
        from = middle + 1;
      }
    }
    return from < groups ? from + 1 : groups;
  }
};

/// The groups of a rank's rows that a change of one end reaches.
struct ReachFromEnd {
  EndReach own, other;  ///< of this end and of the rank's other end
  bool at_wall;         ///< then this end changes only if a change of the other end reaches it

  SLUICE_INLINE int of(double shift) const { return at_wall && other.of(shift) < other.groups ? 0 : own.of(shift); }
};

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
    return -toward(n) / multiply_add(away(n), next, diagonal(n) + shift);
  }
};

/// Writes EndDecay::product and ratio of the first `groups` groups of the `inner` rows between the ends, `stride`
/// apart.
SLUICE_INLINE void find_decay(const RowsFromEnd& from_end, int inner, int groups, double shift, double* products,
                              double* ratios, std::ptrdiff_t stride) {
  constexpr int size = EndDecay::rows_in_group;
  double ratio = 0;
  for (int group = groups - 1; group >= 0; --group) {
    ratios[group * stride] = ratio;
    for (int m = size; m > 0; --m) {
      const int n = group * size + m;
      if (n <= inner) ratio = from_end.ratio(n, shift, ratio);
    }
  }
  double product = 1;
  for (int group = 0; group < groups; ++group) {
    products[group * stride] = product;
    ratio = ratios[group * stride];
    for (int m = size; m > 0; --m) {
      const int n = group * size + m;
      if (n > inner) continue;
      ratio = from_end.ratio(n, shift, ratio);
      product *= ratio;
    }
  }
}

/// EndReach::smallest_shift for the `inner` rows between the ends, in host memory. `largest_shift`: the largest |shift|
/// that occurs, with the sign of the diagonal; where not even that suffices, the entry is infinite.
std::vector<double> smallest_shifts(const RowsFromEnd& from_end, int inner, double largest_shift);

}  // namespace sluice
