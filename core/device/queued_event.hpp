#pragma once
// Events that the tasks of run_together() record: those of several tasks at the same place become one. Only for files
// of a GPU build.
#include "core/device/gpu_runtime.hpp"

#include <memory>

#include "core/device/launch_queue.hpp"

namespace sluice::device {

/// A CUDA event, taken from a pool.
class OwnedEvent {
 public:
  OwnedEvent();
  OwnedEvent(const OwnedEvent&) = delete;
  OwnedEvent& operator=(const OwnedEvent&) = delete;
  ~OwnedEvent();

  void record();
  void wait();  ///< asks CUDA once, however many tasks wait
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
  bool reached_ = false;
};

/// An event that is in a queue until `recorded` is set.
struct QueuedEvent {
  std::shared_ptr<OwnedEvent> recorded;
};

void enqueue(LaunchQueue& queue, std::shared_ptr<QueuedEvent> event);

}  // namespace sluice::device
