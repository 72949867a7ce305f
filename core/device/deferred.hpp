#pragma once
#include "core/device/buffer.hpp"
#include "core/device/event.hpp"
#include "core/device/memory.hpp"
#include "core/support/exact_sum.hpp"

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

/// A sum over a rank's cells, which loops that are issued later read in device memory, and the host if it wishes to.
class DeferredSum {
 public:
  /// Where a loop writes it, and later ones find it: in device memory.
  ExactSum* data() { return sum_.data(); }
  const ExactSum* data() const { return sum_.data(); }
  /// The loops issued so far have written it.
  void written() {
    if (for_host) on_host_.fetch(sum_.data());
  }

  /// Waits for the sum. Only if it was written for the host.
  ExactSum value() const { return on_host_.value(); }

  bool for_host = true;  ///< whether value() will be called

 private:
  Buffer<ExactSum> sum_{1};
  Deferred<ExactSum> on_host_;
};

}  // namespace sluice
