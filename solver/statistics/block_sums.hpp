#pragma once
#include <array>
#include <utility>
#include <vector>

#include "model/statistics_block.hpp"

namespace sluice {

/// Sums over the samples of one block of time. Samplers derive from it: they list their quantities, and add samples.
class BlockSums {
 public:
  /// The averaged quantities, in the order of StatisticsBlock::sums.
  const std::vector<ProfileInfo>& profiles() const { return profiles_; }

  const StatisticsBlock& open_block() const { return block_; }
  void set_open_block(StatisticsBlock block) {
    block_ = std::move(block);
    if (!holds_sums_) block_.sums.clear();
  }
  /// Returns the open block, which ends at `step`, and starts an empty one with the same constants.
  StatisticsBlock close_block(std::int64_t step) {
    StatisticsBlock closed = std::exchange(block_, empty_block());
    closed.step_end = step;
    set_constants(closed);
    return closed;
  }
  /// Starts an empty block whose constants are not known.
  void start_anew() { block_ = empty_block(); }
  /// Takes the constants of another block, before the first sample.
  void set_constants(const StatisticsBlock& other) {
    for (std::size_t n = 0; holds_sums_ && n < profiles_.size(); ++n) {
      if (profiles_[n].constant) block_.sums[n] = other.sums[n];
    }
  }

 protected:
  /// `holds_sums`: whether this rank holds the sums; all other members of the open block are the same on every rank.
  BlockSums(std::vector<ProfileInfo> profiles, const std::array<std::int64_t, 3>& cells, bool holds_sums)
      : profiles_(std::move(profiles)), cells_(cells), holds_sums_(holds_sums), block_(empty_block()) {}
  ~BlockSums() = default;

  /// Sums of a quantity, by its number in profiles().
  std::vector<double>& sums(std::size_t n) { return block_.sums[n]; }
  const std::array<std::int64_t, 3>& cells() const { return cells_; }
  bool holds_sums() const { return holds_sums_; }

  /// Size of the sums of a block, in bytes.
  static double bytes_of(const std::vector<ProfileInfo>& profiles, const std::array<std::int64_t, 3>& cells) {
    double bytes = 0;
    for (const ProfileInfo& profile : profiles)
      bytes += static_cast<double>(profile.length(cells)) * static_cast<double>(sizeof(double));
    return bytes;
  }

  /// Counts a sample of the state at this time.
  void count_sample(double time, double forcing) {
    if (block_.samples == 0) block_.time_begin = time;
    block_.time_end = time;
    block_.forcing += forcing;
    ++block_.samples;
  }

 private:
  StatisticsBlock empty_block() const {
    StatisticsBlock block;
    if (!holds_sums_) return block;
    for (const ProfileInfo& profile : profiles_)
      block.sums.emplace_back(static_cast<std::size_t>(profile.length(cells_)), 0.0);
    return block;
  }

  std::vector<ProfileInfo> profiles_;
  std::array<std::int64_t, 3> cells_;
  bool holds_sums_;
  StatisticsBlock block_;
};

}  // namespace sluice
