#pragma once
#include <cstdint>

namespace sluice {

/// Consecutive planes of an array, [first, last).
struct PlaneRange {
  std::int64_t first, last;

  std::int64_t count() const { return last - first; }
};

}  // namespace sluice
