#pragma once
// What a task of run_together() (together.hpp) has asked the device to do, and which has not been issued yet.
#include <memory>
#include <vector>

namespace sluice::device {

class LaunchQueue {
 public:
  LaunchQueue();
  LaunchQueue(const LaunchQueue&) = delete;
  LaunchQueue& operator=(const LaunchQueue&) = delete;
  ~LaunchQueue();

  bool empty() const;

  /// What is asked for until end_group() may be issued in any order.
  void begin_group();
  void end_group();

  /// Issues all that the queues hold, each queue in its order. Equal launches at the fronts of several queues become
  /// one. Throws Error; what was not issued is then forgotten.
  static void issue(const std::vector<LaunchQueue*>& queues);

  struct Contents;  ///< GPU build
  Contents& contents() { return *contents_; }

 private:
  std::unique_ptr<Contents> contents_;
};

}  // namespace sluice::device
