#pragma once
#include <string>

namespace sluice {

/// The lock of an output directory: its file `lock` names host, process and start. The kernel drops the lock when the
/// process ends, however it ends; the file stays. For rank 0 only.
class OutputLock {
 public:
  OutputLock() = default;
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;
  ~OutputLock() { release(); }

  /// Locks a directory until release() or the end of the object. Returns "", or a warning if the file system has no
  /// locks. Throws Error(usage), naming the holder, if another run holds the lock; Error(io) if the file cannot be
  /// written.
  [[nodiscard]] std::string take(const std::string& directory);
  void release();

 private:
  int descriptor_ = -1;
};

/// The process, host and start of the run that holds the lock of an output directory; empty if there is none. Takes no
/// lock. Local.
std::string lock_holder(const std::string& directory);

}  // namespace sluice
