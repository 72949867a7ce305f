#include <cstring>

#include "core/device/stream.hpp"

namespace sluice::device {

Stream::Stream() = default;
Stream::~Stream() = default;

void Stream::wait_for(const Event& /*event*/) {}

void Stream::copy(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

void Stream::record(Event& event) {
  event.record();
}

void loops_wait_for(const Event& /*event*/) {}

}  // namespace sluice::device
