#pragma once
#include <memory>

namespace sluice::device {

struct QueuedEvent;

/// The moment at which the device has done all work issued before record(). In a CPU build, the moment of the call.
/// Move-only.
class Event {
 public:
  Event();

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

  struct Destroy {
    void operator()(void* handle) const noexcept;
  };
  /// What CUDA calls the event, once it is issued.
  void* issued() const;

  std::unique_ptr<void, Destroy> handle_;  ///< GPU build
  std::shared_ptr<QueuedEvent> queued_;    ///< GPU build: recorded by a task of run_together()
  [[maybe_unused]] double moment_ = 0;     ///< CPU build
};

double seconds_between(const Event& start, const Event& end);

}  // namespace sluice::device
