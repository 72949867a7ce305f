#include "core/device/event.hpp"
#include "core/device/timers.hpp"

namespace sluice::device {

Event::Event() = default;
Event::~Event() = default;

void Event::record() {
  moment_ = wall_seconds();
}

void Event::wait() const {}

bool Event::done() const {
  return true;
}

double seconds_between(const Event& start, const Event& end) {
  return end.moment_ - start.moment_;
}

}  // namespace sluice::device
