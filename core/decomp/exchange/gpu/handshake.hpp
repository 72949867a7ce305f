#pragma once
// For the files of a GPU build only.
#include <cstdint>

namespace sluice {

/// Flags in memory that GPUs share, each of which only grows: some to be set by this rank, others to be waited for. All
/// happens on the device, in order with the loops.
class Handshake {
 public:
  using Word = std::uint64_t;
  static constexpr int max_peers = 32;  ///< a thread for each

  /// At most max_peers of each. The flag shows when everything has been done that was issued before.
  void tell(Word* flag, Word value) { told_[tells_++] = {flag, value}; }
  void await(Word* flag, Word value) { awaited_[waits_++] = {flag, value}; }

  /// Sets the flags; loops issued afterwards start when the awaited flags have reached their values.
  void issue() const;

  /// What the device does, in one warp.
  struct Run;

 private:
  struct Flag {
    Word* address;
    Word value;
  };
  Flag told_[max_peers];
  Flag awaited_[max_peers];
  int tells_ = 0;
  int waits_ = 0;
};

}  // namespace sluice
