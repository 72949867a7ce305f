#pragma once
// Wall-clock time per phase of a step.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Wall-clock seconds since an arbitrary moment.
double wall_seconds();

/// Accumulates wall time under names, in the order in which they first appear. With `synchronous`, a GPU's
/// pending work counts to the phase that issued it; without, phases are not measured at all on a GPU build
/// (waiting would slow the step).
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
    std::size_t index_ = 0;
    double start_ = 0;
  };

  explicit PhaseTimers(bool synchronous = false) : synchronous_(synchronous) {}

  const std::vector<Phase>& phases() const { return phases_; }
  void reset();  ///< forgets all phases; never inside a Scope
  void set_synchronous(bool synchronous) { synchronous_ = synchronous; }

 private:
  bool active() const;
  std::size_t index_of(std::string_view name);

  std::vector<Phase> phases_;
  bool synchronous_;
};

}  // namespace sluice
