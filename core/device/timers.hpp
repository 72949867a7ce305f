#pragma once
// Time per phase of a step.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/event.hpp"
#include "core/support/phase.hpp"

namespace sluice {

/// Wall-clock seconds since an arbitrary moment.
double wall_seconds();

/// Accumulates the time of named phases, in the order of first appearance. A CPU build measures wall time, a GPU build
/// device time between events, without waiting. A GPU build measures only after enable(), because events accumulate
/// until they are read.
class PhaseTimers {
 public:
  struct Phase {
    std::string name;
    double seconds = 0;
    long calls = 0;
  };

  /// Adds the time from construction to destruction, which is also a Phase.
  class Scope {
   public:
    /// `name`: a string literal.
    Scope(PhaseTimers& timers, const char* name);
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
  const std::vector<Phase>& phases();
  void reset();  ///< forgets all phases

 private:
  struct Span {
    std::size_t phase = 0;
    device::Event start, end;
  };

  std::size_t index_of(std::string_view name);
  void settle();  ///< reads the finished spans

  std::vector<Phase> phases_;
  std::vector<Span> spans_;  ///< kept for their events; the first `open_spans_` are not read yet
  std::size_t open_spans_ = 0;
  bool enabled_;
};

}  // namespace sluice
