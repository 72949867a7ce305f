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

void Stream::copy_rows(void* to, std::size_t to_distance, const void* from, std::size_t from_distance,
                       std::size_t bytes, std::size_t rows) {
  for (std::size_t row = 0; row < rows; ++row) {
    std::memcpy(static_cast<std::byte*>(to) + row * to_distance,
                static_cast<const std::byte*>(from) + row * from_distance, bytes);
  }
}

void Stream::record(Event& event) {
  event.record();
}

void loops_wait_for(const Event& /*event*/) {}

}  // namespace sluice::device
