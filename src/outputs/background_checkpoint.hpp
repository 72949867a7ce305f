#pragma once
#include <cstdint>
#include <future>
#include <string>
#include <vector>

#include "core/device/memory.hpp"
#include "core/support/real.hpp"
#include "io/files/checkpoint_directory.hpp"
#include "solver/state/state.hpp"

namespace sluice {

/// What a checkpoint holds besides the fields.
struct CheckpointContents {
  io::CheckpointSpec spec;
  io::LocalBlock block;  ///< of this rank
  io::ValueGroups values;
  int keep = 1;
};

/// A checkpoint on disk.
struct WrittenCheckpoint {
  std::int64_t step = 0;
  double time = 0;
  double seconds = 0;                 ///< that its writing took
  std::vector<std::string> warnings;  ///< on rank 0: faults that do not affect the checkpoint itself
};

/// Writes the fields, copied one after the other, and the other contents. Collective. Throws Error(io); older
/// checkpoints are then unchanged.
WrittenCheckpoint write_checkpoint(MPI_Comm comm, const State& state, const CheckpointContents& contents);

/// Writes checkpoints of a run of one process while the run goes on, one at a time: copies the fields, then a thread
/// does what write_checkpoint does. It makes no MPI calls, which MPI might refuse to a second thread.
class BackgroundCheckpoint {
 public:
  /// Allocates host memory for the fields of a checkpoint. Throws Error(resources).
  explicit BackgroundCheckpoint(const State& state);
  BackgroundCheckpoint(const BackgroundCheckpoint&) = delete;
  BackgroundCheckpoint& operator=(const BackgroundCheckpoint&) = delete;

  /// Returns when the fields have been copied. None may be running.
  void start(const State& state, CheckpointContents contents);
  bool is_running() const { return written_.valid(); }  ///< or has ended, but finish() was not called
  bool has_ended() const;                               ///< finish() would not wait
  /// Waits for its end. Throws the errors of write_checkpoint.
  WrittenCheckpoint finish() { return written_.get(); }

 private:
  std::vector<FieldDescriptor> descriptors_;
  std::size_t field_size_ = 0;
  device::HostPointer<real> fields_;
  std::future<WrittenCheckpoint> written_;  ///< last: its end is waited for before what it uses is destroyed
};

}  // namespace sluice
