// A CPU build runs loops at once: its queues are empty.
#include "core/device/launch_queue.hpp"

namespace sluice::device {

struct LaunchQueue::Contents {};

LaunchQueue::LaunchQueue() = default;
LaunchQueue::~LaunchQueue() = default;

bool LaunchQueue::empty() const {
  return true;
}

void LaunchQueue::begin_group() {}
void LaunchQueue::end_group() {}
void LaunchQueue::begin_aside() {}
void LaunchQueue::end_aside() {}
void LaunchQueue::join_aside() {}

void LaunchQueue::issue(const std::vector<LaunchQueue*>& /*queues*/) {}

}  // namespace sluice::device
