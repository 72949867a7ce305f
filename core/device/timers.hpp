#pragma once
// Time per phase of a step.
#include <cstddef>
#include <vector>

#include "core/device/event.hpp"
#include "core/support/phase.hpp"
#include "core/support/phases.hpp"

namespace sluice {

/// Wall-clock seconds since an arbitrary moment.
double wall_seconds();

/// Accumulates the time of phases, in the order of first appearance. A CPU build measures wall time, a GPU build
/// device time between events, without waiting. A GPU build measures only after enable(), because events accumulate
/// until they are read.
class PhaseTimers {
 public:
  struct Total {
    TimedPhase phase;
    double seconds = 0;
    long calls = 0;
  };

  /// Adds the time from construction to destruction, which the watchdog sees as a Phase.
  class Scope {
   public:
    Scope(PhaseTimers& timers, TimedPhase phase);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Phase phase_;
    PhaseTimers* timers_;
    std::size_t span_ = 0;
  };

  PhaseTimers();

  void enable() { enabled_ = true; }
  /// Waits for the device to finish the phases so far. Do not call it or reset() inside a Scope.
  const std::vector<Total>& phases();
  void reset();  ///< forgets all phases

 private:
  struct Span {
    std::size_t phase = 0;
    device::Event start, end;
  };

  std::size_t index_of(TimedPhase phase);
  void settle();  ///< reads the finished spans

  std::vector<Total> phases_;
  std::vector<Span> spans_;  ///< kept for their events; the first `open_spans_` are not read yet
  std::size_t open_spans_ = 0;
  bool enabled_;
};

}  // namespace sluice
