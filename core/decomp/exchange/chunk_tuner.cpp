#include "core/decomp/exchange/chunk_tuner.hpp"

#include <algorithm>
#include <numeric>

namespace sluice {

ChunkTuner::ChunkTuner(std::size_t largest_block, std::size_t blocks)
    : whole_bytes_(std::max<std::size_t>(largest_block, 1)) {
  for (std::size_t size = smallest; size < largest_block && size <= largest; size *= 2)
    candidates_.push_back({size, 0});
  candidates_.push_back({whole_bytes_, 0});
  sizes_ = candidates_.size();
  while (first_ + 1 < sizes_ && candidates_[first_].bytes < first_tried) ++first_;
  for (std::size_t n = 0; n < sizes_; ++n) {
    const std::size_t size = candidates_[n].bytes;
    const std::size_t count = blocks * ((whole_bytes_ + size - 1) / size);
    for (const std::size_t limit : limits) {
      if (2 * limit <= count) candidates_.push_back({size, limit});
    }
  }
  if (candidates_.size() > 1) tune();
}

void ChunkTuner::tune() {
  tuning_ = true;
  ++tunings_;
  round_ = Round::sizes;
  of_round_.resize(sizes_);
  std::iota(of_round_.begin(), of_round_.end(), std::size_t{0});
  std::rotate(of_round_.begin(), of_round_.begin() + static_cast<std::ptrdiff_t>(first_), of_round_.end());
  agreed_.assign(candidates_.size(), 0);
  fastest_ = agreed_;
  tried_ = 0;
  current_ = of_round_.front();
}

std::vector<PieceTrial> ChunkTuner::tried() const {
  std::vector<PieceTrial> list;
  for (std::size_t n = 0; n < fastest_.size(); ++n) {
    if (fastest_[n] > 0) list.push_back({candidates_[n], fastest_[n]});
  }
  return list;
}

std::optional<double> ChunkTuner::finished(double seconds) {
  if (candidates_.size() == 1) return std::nullopt;
  times_.push_back(seconds);
  const bool in_finals = round_ == Round::finals;
  const int target_count = !tuning_ ? window : in_finals ? final_trials : trials;
  if (times_.size() < static_cast<std::size_t>(target_count)) return std::nullopt;
  if (tuning_) times_.erase(times_.begin());
  if (tuning_ && !in_finals) return *std::ranges::min_element(times_);
  const auto middle = times_.begin() + static_cast<std::ptrdiff_t>(times_.size() / 2);
  std::nth_element(times_.begin(), middle, times_.end());
  return *middle;
}

void ChunkTuner::agree(double seconds) {
  times_.clear();
  if (!tuning_) {
    judge(seconds);
    return;
  }
  agreed_[current_] = seconds;
  if (round_ != Round::finals) fastest_[current_] = seconds;
  if (++tried_ == of_round_.size()) end_round();
  if (tuning_) current_ = of_round_[tried_];
}

/// The candidates that have been tried, the fastest first; of equal ones those without a limit.
std::vector<std::size_t> ChunkTuner::best_of_tried(std::size_t count) const {
  std::vector<std::size_t> best;
  for (std::size_t n = 0; n < candidates_.size(); ++n) {
    if (agreed_[n] > 0) best.push_back(n);
  }
  std::ranges::stable_sort(best, {}, [this](std::size_t candidate) { return agreed_[candidate]; });
  if (best.size() > count) best.resize(count);
  return best;
}

void ChunkTuner::end_round() {
  tried_ = 0;
  if (round_ == Round::sizes) {
    round_ = Round::limits;
    of_round_.clear();
    for (const std::size_t best : best_of_tried(limited_sizes)) {
      for (std::size_t n = sizes_; n < candidates_.size(); ++n) {
        if (candidates_[n].bytes == candidates_[best].bytes) of_round_.push_back(n);
      }
    }
    if (!of_round_.empty()) return;
  }
  if (round_ == Round::limits) {
    round_ = Round::finals;
    of_round_ = best_of_tried(finalists);
    if (best_of_tried(finalists + 1).size() > finalists) return;
  }
  std::ranges::stable_sort(of_round_, {}, [this](std::size_t candidate) { return agreed_[candidate]; });
  current_ = of_round_.front();
  tuning_ = false;
  best_ = 0;
  slow_windows_ = 0;
}

void ChunkTuner::judge(double seconds) {
  if (best_ == 0) best_ = seconds;
  slow_windows_ = seconds > tolerance * best_ ? slow_windows_ + 1 : 0;
  best_ = std::min(best_, seconds);
  if (slow_windows_ >= patience) tune();
}

}  // namespace sluice
