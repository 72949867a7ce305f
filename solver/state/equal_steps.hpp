#pragma once
#include <cstdint>

namespace sluice {

/// The latest steps of a run, as far back as they have the same length. The time after them is begin + steps dt: a sum
/// of dt would gather round-off.
struct EqualSteps {
  double dt = 0;
  double begin = 0;        ///< time at which they began
  std::int64_t steps = 0;  ///< their number

  double end() const { return begin + static_cast<double>(steps) * dt; }

  /// Those after a further step of `length` from `time`. They begin anew if the length changes, or if something other
  /// than a step has set the time.
  EqualSteps after_step(double time, double length) const {
    if (length == dt && time == end()) return {dt, begin, steps + 1};
    return {length, time, 1};
  }
};

}  // namespace sluice
