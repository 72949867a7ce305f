#pragma once
#include <cstddef>
#include <utility>

#include "core/device/event.hpp"

namespace sluice::device {

/// Copies that go on beside the loops, one after another, and wait for them only where they are told to. In a CPU build
/// there are no loops to wait for and a copy is done at once. Move-only.
class Stream {
 public:
  Stream();
  Stream(Stream&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();

  /// Copies issued afterwards start when `event` has come.
  void wait_for(const Event& event);
  /// Issues a copy between device memory and memory of allocate_host().
  void copy(void* to, const void* from, std::size_t bytes);
  /// `event` comes when the copies issued so far are done.
  void record(Event& event);

 private:
  void* handle_ = nullptr;
};

/// Loops issued afterwards start when `event` has come.
void loops_wait_for(const Event& event);

}  // namespace sluice::device
