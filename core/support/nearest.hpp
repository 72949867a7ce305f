#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace sluice {

/// Index of the element of a list nearest to a value; the first of two that are equally near.
inline std::int64_t nearest_index(const std::vector<double>& list, double value) {
  return std::ranges::min_element(list, {}, [=](double element) { return std::abs(element - value); }) - list.begin();
}

}  // namespace sluice
