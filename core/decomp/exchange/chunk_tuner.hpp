#pragma once
#include <cstddef>
#include <optional>
#include <vector>

namespace sluice {

/// Finds the size of the pieces in which blocks travel best, during the first exchanges of a run, and again when
/// exchanges have become slower than they were. Small pieces let the stages of an exchange overlap; large ones cost
/// fewer messages. All ranks go through the same states, since they decide by times that they have agreed on:
///
///   if (const auto time = tuner.finished(seconds)) tuner.agree(slowest rank's *time);
class ChunkTuner {
 public:
  static constexpr int trials = 4;          ///< exchanges with each candidate; the first warms up, the least counts
  static constexpr int finalists = 3;       ///< candidates that are tried once more, since the least can be luck
  static constexpr int final_trials = 6;    ///< exchanges with each of those; the first warms up, the median counts
  static constexpr int window = 32;         ///< exchanges after which the time is looked at, once tuned
  static constexpr double tolerance = 1.1;  ///< times the best: slower
  static constexpr int patience = 2;        ///< slow windows in a row before tuning starts anew: one may be chance

  /// For blocks of at most this many bytes on any rank: the same on all ranks.
  explicit ChunkTuner(std::size_t largest_block);

  /// Bytes of a piece in the next exchange.
  std::size_t chunk() const { return candidates_[current_]; }
  bool tuning() const { return tuning_; }

  /// An exchange took this long here. Gives a time that the ranks must agree on now, if there is one.
  std::optional<double> finished(double seconds);
  /// The longest of all ranks' times.
  void agree(double seconds);

 private:
  void tune();
  void end_round();
  void judge(double seconds);
  bool in_finals() const { return round_.size() < candidates_.size(); }

  std::vector<std::size_t> candidates_;
  std::size_t first_ = 0;  ///< to be tried: a size that is seldom bad, for who measures no more than a few exchanges
  std::size_t current_ = 0;
  bool tuning_ = false;
  std::vector<std::size_t> round_;  ///< candidates to be tried, in this order: all of them, then the best
  std::size_t tried_ = 0;           ///< how many of them have been
  std::vector<double> agreed_;      ///< of each candidate; 0: not tried yet
  std::vector<double> times_;       ///< since the last agreement
  double best_ = 0;                 ///< of the windows so far; 0: none yet
  int slow_windows_ = 0;
};

}  // namespace sluice
