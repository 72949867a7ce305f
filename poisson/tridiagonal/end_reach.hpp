#pragma once
// How far a rank's rows depend on the value at an end, and the equation of that end on them.
//
// If x_0, the value at an end, changes by e_0 and d stays as it is, the values at distance n change by e_n with
//
//   toward_n e_{n-1} + (diagonal_n + shift) e_n + away_n e_{n+1} = 0,    e_n = ratio_n e_{n-1},
//   ratio_n = -toward_n / (diagonal_n + shift + away_n ratio_{n+1}),
//
// where the other end stays as it is. The rows are diagonally dominant, so that |ratio_n| < 1, and it becomes smaller
// as |shift| grows. From the first n on at which the product of the ratios is below round-off, rows and end do not
// depend on each other. Rows are counted in groups, so that a thread can read those of a group together.
#include <cmath>
#include <vector>

#include "core/device/tuning.hpp"
#include "poisson/tridiagonal/lines.hpp"

namespace sluice {

/// For each number of groups of rows, from 1 on, the smallest |shift| for which an end reaches no further. Does not
/// increase.
struct EndReach {
  static constexpr int rows_in_group = tuning::lines::rows_in_group;

  const double* smallest_shift = nullptr;
  int groups = 0;  ///< of all rows between the ends

  /// Of a rank's rows; at least one.
  SLUICE_INLINE static int groups_of(int rows) {
    const int groups = (rows - 2 + rows_in_group - 1) / rows_in_group;
    return groups > 1 ? groups : 1;
  }

  /// How many groups an end reaches; at most all.
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

/// The groups of a rank's rows that one end reaches.
struct ReachFromEnd {
  EndReach own, other;  ///< of this end and of the rank's other end
  bool at_wall;         ///< then nothing but the other end changes this one, if that reaches it

  SLUICE_INLINE ReachFromEnd(bool from_first, const LineRows& home)
      : own{home.reach, EndReach::groups_of(home.row_count)},
        other{home.reach + own.groups, own.groups},
        at_wall(from_first ? home.first_row == 0 : home.first_row + home.row_count == home.nz) {
    if (from_first) return;
    const EndReach of_first = own;
    own = other;
    other = of_first;
  }

  /// 0: this end need not be known.
  SLUICE_INLINE int of(double shift) const { return at_wall && other.of(shift) < other.groups ? 0 : own.of(shift); }
};

/// A rank's rows as seen from one of its ends, n = 0. Step: 1 or -1.
struct RowsFromEnd {
  LineRows rows;
  int end = 0;  ///< row of the grid
  int step = 1;

  SLUICE_INLINE static RowsFromEnd of(bool from_first, const LineRows& home) {
    return {home, home.first_row + (from_first ? 0 : home.row_count - 1), from_first ? 1 : -1};
  }

  SLUICE_INLINE double toward(int n) const { return step > 0 ? rows.lower[end + n] : rows.upper[end - n]; }
  SLUICE_INLINE double away(int n) const { return step > 0 ? rows.upper[end + n] : rows.lower[end - n]; }
  SLUICE_INLINE double diagonal(int n) const { return rows.diagonal[end + n * step]; }

  /// ratio_n / -toward_n from ratio_{n+1}.
  SLUICE_INLINE double inverse(int n, double shift, double next) const {
    return 1 / multiply_add(away(n), next, diagonal(n) + shift);
  }
  /// ratio_n from ratio_{n+1}.
  SLUICE_INLINE double ratio(int n, double shift, double next) const { return -toward(n) * inverse(n, shift, next); }
};

/// The shifts of smallest and of largest absolute value that occur, with the sign of the diagonal.
struct ShiftRange {
  double smallest = 0, largest = 0;
};

/// EndReach::smallest_shift for the `inner` rows between the ends, in host memory: 0 where every shift that occurs
/// suffices, infinite where not even the largest does. Only if the smallest is 0 are shifts between the two searched
/// for: with others, which change in every substep, an entry is 0 or infinite.
std::vector<double> smallest_shifts(const RowsFromEnd& from_end, int inner, const ShiftRange& shifts);

}  // namespace sluice
