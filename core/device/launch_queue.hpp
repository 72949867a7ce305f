#pragma once
// What a task of run_together() (together.hpp) has asked the device to do, and which has not been issued yet.
#include <memory>
#include <vector>

namespace sluice::device {

/// Launches of kernels and records of events. Always empty in a CPU build, which runs loops at once.
class LaunchQueue {
 public:
  LaunchQueue();
  LaunchQueue(const LaunchQueue&) = delete;
  LaunchQueue& operator=(const LaunchQueue&) = delete;
  ~LaunchQueue();

  bool empty() const;

  /// What is queued from here to end_group() may be issued in any order.
  void begin_group();
  void end_group();

  /// What is queued meanwhile may run beside what is queued later, until join_aside().
  void begin_aside();
  void end_aside();
  void join_aside();

  /// Issues and removes all that the queues hold, each queue in its order. Equal launches at the fronts of several
  /// queues become one. Throws Error if the device fails; the queues are then empty, too.
  static void issue(const std::vector<LaunchQueue*>& queues);

  struct Contents;  ///< GPU build
  Contents& contents() { return *contents_; }

 private:
  std::unique_ptr<Contents> contents_;
};

}  // namespace sluice::device
