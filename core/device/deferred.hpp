#pragma once
#include "core/device/event.hpp"
#include "core/device/memory.hpp"

namespace sluice {

/// The result of a loop, which the host reads later: it can issue the next loops first, so that the device does not run
/// idle. T is trivially copyable. Move-only.
template <class T>
class Deferred {
 public:
  Deferred() : slot_(static_cast<T*>(device::allocate_host(sizeof(T)))) {}

  /// Fetches the value at this device address as it is when the loops issued so far are done.
  void fetch(const void* device_pointer) {
    device::copy_async(slot_.get(), device_pointer, sizeof(T));
    ready_.record();
  }
  void set(const T& value) {
    *slot_ = value;
    ready_.record();
  }

  /// Waits for the value.
  T value() const {
    ready_.wait();
    return *slot_;
  }

 private:
  device::HostPointer<T> slot_;
  device::Event ready_;
};

}  // namespace sluice
