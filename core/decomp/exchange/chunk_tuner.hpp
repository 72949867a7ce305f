#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "core/decomp/exchange/piece_tuning.hpp"

namespace sluice {

/// Finds the fastest piece size for sending blocks during the first exchanges of a run, and again when exchanges have
/// become slower. Small pieces let the stages of an exchange overlap; large ones cost fewer messages.
///
/// Candidates are 256 KiB, 512 KiB, ... up to 64 MiB, and whole blocks. Each is tried in `trials` exchanges, then the
/// best `finalists` in `final_trials`; the fastest is chosen. All ranks go through the same states, because they decide
/// by agreed times:
///
///   if (const auto time = tuner.finished(seconds)) tuner.agree(slowest rank's *time);
class ChunkTuner {
 public:
  static constexpr std::size_t smallest = std::size_t{256} << 10;
  static constexpr std::size_t first_tried = std::size_t{4} << 20;
  static constexpr std::size_t largest = std::size_t{64} << 20;
  static constexpr int trials = 4;          ///< exchanges with each candidate; the first warms up, the minimum counts
  static constexpr int finalists = 3;       ///< candidates that are tried again, since a minimum can be luck
  static constexpr int final_trials = 6;    ///< exchanges with each finalist; the first warms up, the median counts
  static constexpr int window = 32;         ///< exchanges per time check, once tuned
  static constexpr double tolerance = 1.1;  ///< slow: more than this many times the best
  static constexpr int patience = 2;        ///< slow windows in a row that restart tuning; one may be chance

  /// `largest_block`: bytes of the largest block on any rank; the same on all ranks.
  explicit ChunkTuner(std::size_t largest_block);

  /// Bytes per piece in the next exchange.
  std::size_t chunk() const { return candidates_[current_]; }
  bool tuning() const { return tuning_; }
  /// Whether blocks are not cut.
  bool whole() const { return current_ + 1 == candidates_.size(); }
  /// The first round since tuning began: the fastest exchange with each size, on the slowest rank. Another size than
  /// the best of these may be chosen, because the finals decide by the median.
  std::vector<PieceTrial> tried_sizes() const;

  /// Reports the time of an exchange on this rank. Returns a time if the ranks must now agree on one.
  std::optional<double> finished(double seconds);
  /// Takes the maximum of all ranks' times.
  void agree(double seconds);

 private:
  void tune();
  void end_round();
  void judge(double seconds);
  bool in_finals() const { return round_.size() < candidates_.size(); }

  std::vector<std::size_t> candidates_;
  std::size_t first_ = 0;  ///< tried first: seldom a bad size, for measurements of only a few exchanges
  std::size_t current_ = 0;
  bool tuning_ = false;
  std::vector<std::size_t> round_;  ///< candidates of this round, in the order of trial: all, then the finalists
  std::size_t tried_ = 0;           ///< how many of them have been tried
  std::vector<double> agreed_;      ///< agreed time of each candidate; 0: not tried yet
  std::vector<double> fastest_;     ///< the same, of the first round
  std::vector<double> times_;       ///< exchange times since the last agreement
  double best_ = 0;                 ///< best window so far; 0: none yet
  int slow_windows_ = 0;
};

}  // namespace sluice
