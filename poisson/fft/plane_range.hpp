#pragma once
#include <cstdint>

namespace sluice {

/// Consecutive planes of an array, [first, last).
struct PlaneRange {
  std::int64_t first, last;

  std::int64_t count() const { return last - first; }
};

/// Stands for all planes of any array.
inline constexpr PlaneRange whole{0, -1};

}  // namespace sluice
