#include "core/support/timers.hpp"

#include <chrono>

#include "core/device/memory.hpp"
#include "core/support/error.hpp"

namespace sluice {

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

PhaseTimers::Scope::Scope(PhaseTimers& timers, std::string_view name) : timers_(timers.active() ? &timers : nullptr) {
  if (timers_ == nullptr) return;
  index_ = timers_->index_of(name);
  device::synchronize();
  start_ = wall_seconds();
}

PhaseTimers::Scope::~Scope() {
  if (timers_ == nullptr) return;
  try {
    device::synchronize();
  } catch (const Error&) {  // a broken device stays broken: the next call of it outside of a destructor throws
    return;
  }
  Phase& phase = timers_->phases_[index_];
  phase.seconds += wall_seconds() - start_;
  ++phase.calls;
}

void PhaseTimers::reset() {
  phases_.clear();
}

bool PhaseTimers::active() const {
  return synchronous_ || !device::is_gpu();
}

std::size_t PhaseTimers::index_of(std::string_view name) {
  for (std::size_t n = 0; n < phases_.size(); ++n) {
    if (phases_[n].name == name) return n;
  }
  phases_.push_back({std::string(name), 0, 0});
  return phases_.size() - 1;
}

}  // namespace sluice
