#pragma once
// Time per phase of a step.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/event.hpp"

namespace sluice {

/// Wall-clock seconds since an arbitrary moment.
double wall_seconds();

/// Accumulates the time of phases under names, in the order in which they first appear: wall time in a CPU build, in a
/// GPU build the device's time from event to event, for which no step waits. A GPU build measures only after enable(),
/// since events pile up until they are read.
class PhaseTimers {
 public:
  struct Phase {
    std::string name;
    double seconds = 0;
    long calls = 0;
  };

  /// Adds the time from construction to destruction.
  class Scope {
   public:
    Scope(PhaseTimers& timers, std::string_view name);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    PhaseTimers* timers_;
    std::size_t span_ = 0;
  };

  PhaseTimers();

  void enable() { enabled_ = true; }
  /// Waits for the device to finish the phases so far. Never inside a Scope, nor is reset().
  const std::vector<Phase>& phases();
  void reset();  ///< forgets all phases

 private:
  struct Span {
    std::size_t phase = 0;
    device::Event start, end;
  };

  std::size_t index_of(std::string_view name);
  void settle();  ///< reads the spans that ended

  std::vector<Phase> phases_;
  std::vector<Span> spans_;  ///< kept for their events; the first `open_spans_` are not read yet
  std::size_t open_spans_ = 0;
  bool enabled_;
};

}  // namespace sluice
