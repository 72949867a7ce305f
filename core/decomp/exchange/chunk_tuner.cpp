#include "core/decomp/exchange/chunk_tuner.hpp"

#include <algorithm>

namespace sluice {

namespace {

constexpr std::size_t smallest = std::size_t{256} << 10;
constexpr std::size_t usual = std::size_t{4} << 20;
constexpr std::size_t largest = std::size_t{64} << 20;

}  // namespace

ChunkTuner::ChunkTuner(std::size_t largest_block) {
  for (std::size_t size = smallest; size < largest_block && size <= largest; size *= 2) candidates_.push_back(size);
  candidates_.push_back(std::max<std::size_t>(largest_block, 1));  // whole blocks
  while (first_ + 1 < candidates_.size() && candidates_[first_] < usual) ++first_;
  if (candidates_.size() > 1) tune();
}

void ChunkTuner::tune() {
  tuning_ = true;
  current_ = first_;
  agreed_.assign(candidates_.size(), 0);
}

std::optional<double> ChunkTuner::finished(double seconds) {
  if (candidates_.size() == 1) return std::nullopt;
  times_.push_back(seconds);
  if (times_.size() < static_cast<std::size_t>(tuning_ ? trials : window)) return std::nullopt;
  if (tuning_) return *std::min_element(times_.begin() + 1, times_.end());
  std::nth_element(times_.begin(), times_.begin() + window / 2, times_.end());
  return times_[window / 2];
}

void ChunkTuner::agree(double seconds) {
  times_.clear();
  if (!tuning_) {
    judge(seconds);
    return;
  }
  agreed_[current_] = seconds;
  current_ = next(current_);
  if (current_ != first_) return;
  current_ = static_cast<std::size_t>(std::min_element(agreed_.begin(), agreed_.end()) - agreed_.begin());
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
