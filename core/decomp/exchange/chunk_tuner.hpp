#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "core/decomp/exchange/piece_tuning.hpp"

namespace sluice {

/// Finds the fastest way to send blocks in pieces during the first exchanges of a run, and again when exchanges have
/// become slower. Small pieces let the stages of an exchange overlap; large ones cost fewer messages. A limit on the
/// pieces in flight keeps ranks from sending to one rank together; without it nothing waits.
///
/// Candidates are sizes of 256 KiB, 512 KiB, ... up to 64 MiB, and whole blocks, each without a limit and with those of
/// `limits` that are at most half of a rank's pieces. All sizes are tried without a limit, then the `limited_sizes`
/// best of them with limits, each in `trials` exchanges; then the best `finalists` in `final_trials`. The fastest is
/// chosen. All ranks go through the same states, because they decide by agreed times:
///
///   if (const auto time = tuner.finished(seconds)) tuner.agree(slowest rank's *time);
class ChunkTuner {
 public:
  static constexpr std::size_t smallest = std::size_t{256} << 10;
  static constexpr std::size_t first_tried = std::size_t{4} << 20;
  static constexpr std::size_t largest = std::size_t{64} << 20;
  static constexpr std::array<std::size_t, 3> limits{1, 4, 16};
  static constexpr int trials = 4;  ///< exchanges with each candidate; the first warms up, the minimum counts
  static constexpr std::size_t limited_sizes = 2;  ///< sizes that are tried with limits
  static constexpr std::size_t finalists = 3;      ///< candidates that are tried again, since a minimum can be luck
  static constexpr int final_trials = 6;    ///< exchanges with each finalist; the first warms up, the median counts
  static constexpr int window = 32;         ///< exchanges per time check, once tuned
  static constexpr double tolerance = 1.1;  ///< slow: more than this many times the best
  static constexpr int patience = 2;        ///< slow windows in a row that restart tuning; one may be chance

  /// `largest_block`: bytes of the largest block on any rank; `blocks`: that any rank sends. The same on all ranks.
  explicit ChunkTuner(std::size_t largest_block, std::size_t blocks = 1);
  /// Always these pieces.
  explicit ChunkTuner(const Pieces& only) : candidates_{only}, whole_bytes_(only.bytes) {}

  /// For the next exchange.
  const Pieces& pieces() const { return candidates_[current_]; }
  bool tuning() const { return tuning_; }
  /// How often tuning has begun.
  int tunings() const { return tunings_; }
  /// Whether blocks are not cut.
  bool whole() const { return pieces().bytes == whole_bytes_; }
  /// The first trials since tuning began: the fastest exchange with each candidate, on the slowest rank. Another one
  /// than the best of these may be chosen, because the finals decide by the median.
  std::vector<PieceTrial> tried() const;

  /// Reports the time of an exchange on this rank. Returns a time if the ranks must now agree on one.
  std::optional<double> finished(double seconds);
  /// Takes the maximum of all ranks' times.
  void agree(double seconds);

 private:
  enum class Round { sizes, limits, finals };

  void tune();
  void end_round();
  std::vector<std::size_t> best_of_tried(std::size_t count) const;
  void judge(double seconds);

  std::vector<Pieces> candidates_;  ///< all sizes without a limit, then those with limits
  std::size_t whole_bytes_;
  std::size_t sizes_ = 1;  ///< candidates without a limit
  std::size_t first_ = 0;  ///< tried first: seldom a bad size, for measurements of only a few exchanges
  std::size_t current_ = 0;
  bool tuning_ = false;
  int tunings_ = 0;
  Round round_ = Round::sizes;
  std::vector<std::size_t> of_round_;  ///< its candidates, in the order of trial
  std::size_t tried_ = 0;              ///< how many of them have been tried
  std::vector<double> agreed_;         ///< agreed time of each candidate; 0: not tried yet
  std::vector<double> fastest_;        ///< the same, before the finals
  std::vector<double> times_;          ///< exchange times since the last agreement
  double best_ = 0;                    ///< best window so far; 0: none yet
  int slow_windows_ = 0;
};

}  // namespace sluice
