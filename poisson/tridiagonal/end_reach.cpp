#include "poisson/tridiagonal/end_reach.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sluice {

namespace {

/// For each group of rows, |e_n| / |e_0| of the first row beyond it; 0 beyond the last one.
std::vector<double> change_beyond(const RowsFromEnd& from_end, int inner, double shift) {
  std::vector<double> ratios(static_cast<std::size_t>(inner) + 2, 0);
  for (int n = inner; n > 0; --n)
    ratios[static_cast<std::size_t>(n)] = from_end.ratio(n, shift, ratios[static_cast<std::size_t>(n) + 1]);
  std::vector<double> changes;
  double change = 1;
  for (int n = 1; n <= inner + 1; ++n) {
    change *= std::abs(ratios[static_cast<std::size_t>(n)]);
    if ((n > 1 && (n - 1) % EndReach::rows_in_group == 0) || n == inner + 1) changes.push_back(change);
  }
  return changes;
}

}  // namespace

std::vector<double> smallest_shifts(const RowsFromEnd& from_end, int inner, const ShiftRange& shifts) {
  constexpr double negligible = real_epsilon / 16;
  constexpr int bisections = 50;
  const std::vector<double> at_smallest = change_beyond(from_end, inner, shifts.smallest);
  const std::vector<double> at_largest =
      shifts.smallest == 0 ? change_beyond(from_end, inner, shifts.largest) : at_smallest;
  std::vector<double> smallest;
  for (std::size_t group = 0; group < at_smallest.size(); ++group) {
    if (at_smallest[group] <= negligible) {
      smallest.push_back(0);
    } else if (at_largest[group] > negligible) {
      smallest.push_back(std::numeric_limits<double>::infinity());
    } else {
      double too_small = 0;
      double sufficient = shifts.largest;
      for (int n = 0; n < bisections; ++n) {
        const double middle = (too_small + sufficient) / 2;
        (change_beyond(from_end, inner, middle)[group] <= negligible ? sufficient : too_small) = middle;
      }
      smallest.push_back(std::abs(sufficient));
    }
  }
  return smallest;
}

}  // namespace sluice
