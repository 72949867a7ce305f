#pragma once
#include <cstddef>
#include <memory>

#include "core/device/event.hpp"

namespace sluice::device {

/// Copies that run concurrently with the loops, one after another, and wait for loops only after wait_for(). In a CPU
/// build copies are synchronous. Move-only.
class Stream {
 public:
  Stream();

  /// Copies issued afterwards start after `event`.
  void wait_for(const Event& event);
  /// Issues a copy between device memory and memory of allocate_host(), or of another GPU.
  void copy(void* to, const void* from, std::size_t bytes);
  /// Issues a copy of `rows` rows of `bytes` each between device memory of any GPUs; rows begin `to_distance` and
  /// `from_distance` bytes apart.
  void copy_rows(void* to, std::size_t to_distance, const void* from, std::size_t from_distance, std::size_t bytes,
                 std::size_t rows);
  /// Records `event` after the copies issued so far.
  void record(Event& event);

 private:
  struct Destroy {
    void operator()(void* handle) const noexcept;
  };
  std::unique_ptr<void, Destroy> handle_;  ///< GPU build
};

/// Loops issued afterwards start after `event`.
void loops_wait_for(const Event& event);

}  // namespace sluice::device
