#pragma once
// When something is due in simulation time. Every output, the end of a run and the bins of phases use this rounding.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

/// Tolerance of comparisons of times: far above the round-off of any sum or product of time steps, far below a step.
inline double time_round_off(double time) {
  constexpr double relative = 1e-9;
  return relative * std::abs(time);
}

/// Whether `time` has reached `due`, up to round-off. An event due at a time happens after the first step that ends
/// there or later.
inline bool is_reached(double due, double time) {
  return time + time_round_off(time) >= due;
}

/// Events at origin + n every in simulation time, n = 0, 1, ... Whether a step passes an event depends only on the
/// times before and after it, so a restart needs no memory of it.
struct Schedule {
  double every = 0;
  double origin = 0;

  /// Whether a step from `before` to `after` passes an event: whether one lies in (before, after], up to round-off.
  bool passed(double before, double after) const { return index(after) > index(before); }

  /// Number of the last event that `time` has reached; -1 if there is none.
  double index(double time) const {
    return is_reached(origin, time) ? std::floor((time + time_round_off(time) - origin) / every) : -1;
  }

  /// Time of an event.
  double due(double number) const { return origin + number * every; }
};

/// Bins of the phase t/period - floor(t/period) of a flow that is driven periodically. Bin n has the phases within half
/// a bin of n/count.
struct PhaseBins {
  std::int64_t count = 0;  ///< 0: no phases are told apart
  double period = 0;

  struct Place {
    std::size_t bin;
    double offset;  ///< of the phase from n/count, in periods
  };
  Place at(double time) const;

  /// The phases in the middle of the bins.
  std::vector<double> middles() const;

  /// The number of bins into which samples in these intervals of time never fall.
  std::int64_t missed(double interval) const;

  bool operator==(const PhaseBins&) const = default;
};

}  // namespace sluice
