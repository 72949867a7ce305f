#pragma once
#include <cmath>

namespace sluice {

/// Events at origin + n every in simulation time. An event due at t happens after the first step that ends at or after
/// t. Whether a step passes an event depends only on the times before and after it, so a restart needs no memory of it.
struct Schedule {
  double every = 0;
  double origin = 0;

  /// Whether an event lies in (before, after].
  bool passed(double before, double after) const { return index(after) > index(before); }
  /// Number of the last event at or before `time`; -1 if there was none.
  double index(double time) const { return time < origin ? -1 : std::floor((time - origin) / every); }
};

}  // namespace sluice
