// Events and streams of a CPU build.
#include <cstring>

#include "core/device/stream.hpp"
#include "core/device/timers.hpp"

namespace sluice::device {

Event::Event() = default;

void Event::Destroy::operator()(void* /*handle*/) const noexcept {}

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

Stream::Stream() = default;

void Stream::Destroy::operator()(void* /*handle*/) const noexcept {}

void Stream::wait_for(const Event& /*event*/) {}

void Stream::copy(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

void Stream::record(Event& event) {
  event.record();
}

void loops_wait_for(const Event& /*event*/) {}

}  // namespace sluice::device
