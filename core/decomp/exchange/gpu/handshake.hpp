#pragma once
// Only for files of a GPU build.
#include <cstdint>

namespace sluice {

/// Monotonic flags in memory that GPUs share: this rank sets some and waits for others. All of this happens on the
/// device, in order with the loops.
class Handshake {
 public:
  using Word = std::uint64_t;
  static constexpr int max_peers = 32;  ///< one thread for each

  /// At most max_peers of each. The flag is set when all work issued before is done.
  void tell(Word* flag, Word value) { told_[tells_++] = {flag, value}; }
  void await(Word* flag, Word value) { awaited_[waits_++] = {flag, value}; }

  /// Sets the flags; loops issued afterwards start when the awaited flags have reached their values.
  void issue() const;

  /// The device code, run by one warp.
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
