#include "core/decomp/exchange/chunk_tuner.hpp"

#include <algorithm>
#include <numeric>

namespace sluice {

ChunkTuner::ChunkTuner(std::size_t largest_block) {
  for (std::size_t size = smallest; size < largest_block && size <= largest; size *= 2) candidates_.push_back(size);
  candidates_.push_back(std::max<std::size_t>(largest_block, 1));  // whole blocks
  while (first_ + 1 < candidates_.size() && candidates_[first_] < first_tried) ++first_;
  if (candidates_.size() > 1) tune();
}

void ChunkTuner::tune() {
  tuning_ = true;
  round_.resize(candidates_.size());
  std::iota(round_.begin(), round_.end(), std::size_t{0});
  std::rotate(round_.begin(), round_.begin() + static_cast<std::ptrdiff_t>(first_), round_.end());
  agreed_.assign(candidates_.size(), 0);
  fastest_ = agreed_;
  tried_ = 0;
  current_ = round_.front();
}

std::vector<PieceTrial> ChunkTuner::tried_sizes() const {
  std::vector<PieceTrial> list;
  for (std::size_t n = 0; n < fastest_.size(); ++n) {
    if (fastest_[n] > 0) list.push_back({candidates_[n], fastest_[n]});
  }
  return list;
}

std::optional<double> ChunkTuner::finished(double seconds) {
  if (candidates_.size() == 1) return std::nullopt;
  times_.push_back(seconds);
  const int target_count = !tuning_ ? window : in_finals() ? final_trials : trials;
  if (times_.size() < static_cast<std::size_t>(target_count)) return std::nullopt;
  if (tuning_) times_.erase(times_.begin());
  if (tuning_ && !in_finals()) return *std::ranges::min_element(times_);
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
  if (!in_finals()) fastest_[current_] = seconds;
  if (++tried_ == round_.size()) end_round();
  if (tuning_) current_ = round_[tried_];
}

/// The first round tries all candidates, the second the best few; the best of these is chosen.
void ChunkTuner::end_round() {
  const bool last = in_finals() || candidates_.size() <= finalists;
  std::ranges::sort(round_, {}, [this](std::size_t candidate) { return agreed_[candidate]; });
  tried_ = 0;
  if (!last) {
    round_.resize(finalists);
    return;
  }
  current_ = round_.front();
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
