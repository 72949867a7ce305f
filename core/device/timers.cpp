#include "core/device/timers.hpp"

#include <chrono>

#include "core/device/memory.hpp"
#include "core/support/error.hpp"

namespace sluice {

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

PhaseTimers::PhaseTimers() : enabled_(!device::is_gpu()) {}

PhaseTimers::Scope::Scope(PhaseTimers& timers, const char* name)
    : phase_(name), timers_(timers.enabled_ ? &timers : nullptr) {
  if (timers_ == nullptr) return;
  span_ = timers_->open_spans_++;
  if (span_ == timers_->spans_.size()) timers_->spans_.emplace_back();
  PhaseTimers::Span& span = timers_->spans_[span_];
  span.phase = timers_->index_of(name);
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

const std::vector<PhaseTimers::Phase>& PhaseTimers::phases() {
  if (enabled_) settle();
  return phases_;
}

void PhaseTimers::reset() {
  open_spans_ = 0;
  phases_.clear();
}

void PhaseTimers::settle() {
  for (std::size_t n = 0; n < open_spans_; ++n) {
    Phase& phase = phases_[spans_[n].phase];
    phase.seconds += seconds_between(spans_[n].start, spans_[n].end);
    ++phase.calls;
  }
  open_spans_ = 0;
}

std::size_t PhaseTimers::index_of(std::string_view name) {
  for (std::size_t n = 0; n < phases_.size(); ++n) {
    if (phases_[n].name == name) return n;
  }
  phases_.push_back({std::string(name), 0, 0});
  return phases_.size() - 1;
}

}  // namespace sluice
