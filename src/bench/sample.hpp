#pragma once
#include <algorithm>
#include <vector>

namespace sluice {

/// Median and extremes of repeated measurements.
struct Spread {
  double median = 0;
  double min = 0;
  double max = 0;
};

inline Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return {(values[(n - 1) / 2] + values[n / 2]) / 2, values.front(), values.back()};
}

}  // namespace sluice
