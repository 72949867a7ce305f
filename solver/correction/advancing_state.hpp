#pragma once
#include <cstdint>
#include <optional>
#include <utility>

#include "solver/correction/correction.hpp"
#include "solver/state/state.hpp"

namespace sluice {

class TimeStepper;

/// A flow between steps, whose last correction may be deferred to the next step. It has no velocity to read:
/// TimeStepper::state applies the correction and returns the State.
class AdvancingState {
 public:
  explicit AdvancingState(State state) : state_(std::move(state)) {}

  std::int64_t step() const { return state_.step; }
  double time() const { return state_.time; }
  const EqualSteps& equal_steps() const { return state_.equal_steps; }
  const Box3& box() const { return state_.p.box(); }  ///< the rank's x pencil

 private:
  friend class TimeStepper;
  friend struct AdvancingStateAccess;  // of tests

  State state_;
  std::optional<PendingCorrection> left_;
  const TimeStepper* by_ = nullptr;  ///< whose phi and g belong to left_
  std::uint64_t generation_ = 0;     ///< of these, TimeStepper::generation_
};

}  // namespace sluice
