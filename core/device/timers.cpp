#include "core/device/timers.hpp"

#include <chrono>

#include "core/device/memory.hpp"
#include "core/support/error.hpp"

namespace sluice {

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

PhaseTimers::PhaseTimers() : enabled_(!device::is_gpu()) {}

PhaseTimers::Scope::Scope(PhaseTimers& timers, TimedPhase phase)
    : phase_(name_of(phase)), timers_(timers.enabled_ ? &timers : nullptr) {
  if (timers_ == nullptr) return;
  span_ = timers_->open_spans_++;
  if (span_ == timers_->spans_.size()) timers_->spans_.emplace_back();
  PhaseTimers::Span& span = timers_->spans_[span_];
  span.phase = timers_->index_of(phase);
  span.start.record();
}

PhaseTimers::Scope::~Scope() {
  if (timers_ == nullptr) return;
  try {
    timers_->spans_[span_].end.record();
    if (!device::is_gpu() && span_ == 0) timers_->settle();
  } catch (const Error&) {  // a failed device keeps failing: its next call outside a destructor throws
    timers_->enabled_ = false;
  }
}

const std::vector<PhaseTimers::Total>& PhaseTimers::phases() {
  if (enabled_) settle();
  return phases_;
}

void PhaseTimers::reset() {
  open_spans_ = 0;
  phases_.clear();
}

void PhaseTimers::settle() {
  for (std::size_t n = 0; n < open_spans_; ++n) {
    Total& total = phases_[spans_[n].phase];
    total.seconds += seconds_between(spans_[n].start, spans_[n].end);
    ++total.calls;
  }
  open_spans_ = 0;
}

std::size_t PhaseTimers::index_of(TimedPhase phase) {
  for (std::size_t n = 0; n < phases_.size(); ++n) {
    if (phases_[n].phase == phase) return n;
  }
  phases_.push_back({phase, 0, 0});
  return phases_.size() - 1;
}

}  // namespace sluice
