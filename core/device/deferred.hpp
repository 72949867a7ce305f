#pragma once
#include <utility>

#include "core/device/event.hpp"
#include "core/device/memory.hpp"

namespace sluice {

/// The result of a loop that the host can have later, so that the device need not run dry while the host waits for a
/// number and issues what follows. T is trivially copyable. Move-only.
template <class T>
class Deferred {
 public:
  Deferred() : slot_(static_cast<T*>(device::allocate_host(sizeof(T)))) {}
  Deferred(Deferred&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)), ready_(std::move(other.ready_)) {}
  Deferred& operator=(Deferred&& other) noexcept {
    std::swap(slot_, other.slot_);
    std::swap(ready_, other.ready_);
    return *this;
  }
  Deferred(const Deferred&) = delete;
  Deferred& operator=(const Deferred&) = delete;
  ~Deferred() {
    if (slot_ != nullptr) device::release_host(slot_);
  }

  /// Will be what lies at this address of device memory when the loops issued so far are done.
  void fetch(const void* device_pointer) {
    device::copy_async(slot_, device_pointer, sizeof(T));
    ready_.record();
  }
  void set(const T& value) {
    *slot_ = value;
    ready_.record();
  }

  /// Waits for it.
  T value() const {
    ready_.wait();
    return *slot_;
  }

 private:
  T* slot_;
  device::Event ready_;
};

}  // namespace sluice
