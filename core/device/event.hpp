#pragma once
#include <utility>

namespace sluice::device {

/// The moment at which the device has done all work issued before record(). In a CPU build, the moment of the call.
/// Move-only.
class Event {
 public:
  Event();
  Event(Event&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)), moment_(other.moment_) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(moment_, other.moment_);
    return *this;
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event();

  /// Issues the event; does not wait.
  void record();
  /// Waits until the device has reached it.
  void wait() const;
  /// Whether the device has reached it; does not wait.
  bool done() const;
  /// Waits for `end`, which was recorded after `start`.
  friend double seconds_between(const Event& start, const Event& end);

 private:
  friend class Stream;
  friend void loops_wait_for(const Event& event);

  void* handle_ = nullptr;
  double moment_ = 0;  ///< CPU build
};

double seconds_between(const Event& start, const Event& end);

}  // namespace sluice::device
