#pragma once
#include <mpi.h>

#include <cstdint>
#include <vector>

namespace sluice {

/// Monotonic flags in memory that ranks share: this rank sets some and waits for others, in order with the loops. On
/// GPUs this happens on the device, and the host does not wait.
class Handshake {
 public:
  using Word = std::uint64_t;
  struct Flag {
    Word* address;
    Word value;
  };
  static constexpr int max_peers_on_gpus = 32;  ///< flags of each kind: one for each thread of a warp

  /// The flag is set when all work issued before is done.
  void tell(Word* flag, Word value) { told_.push_back({flag, value}); }
  void await(Word* flag, Word value) { awaited_.push_back({flag, value}); }

  /// Sets the flags; loops issued afterwards start when the awaited flags have reached their values. All flags are set
  /// before any wait, so that two ranks in the same handshake do not deadlock. Both sides issue their handshakes in the
  /// same order, so a rank that is ahead never waits for a flag that depends on its own later work. If a rank has died,
  /// the others wait for its flag until MPI ends them too.
  /// `world`: a communicator of these ranks without messages of its own.
  void issue(MPI_Comm world) const;

 private:
  std::vector<Flag> told_, awaited_;
};

}  // namespace sluice
