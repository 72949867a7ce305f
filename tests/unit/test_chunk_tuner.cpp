// The size of pieces that a tuned exchange settles on, and when it thinks again.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>

#include "core/decomp/exchange/chunk_tuner.hpp"

namespace sluice {
namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

/// Exchanges whose time depends on the size of the pieces.
void exchange(ChunkTuner& tuner, int count, const std::function<double(std::size_t)>& time) {
  for (int n = 0; n < count; ++n) {
    const auto agreed = tuner.finished(time(tuner.chunk()));
    if (agreed) tuner.agree(*agreed);
  }
}

/// Least at `best`.
auto valley(std::size_t best, double least) {
  return [=](std::size_t chunk) {
    const double distance = std::log2(static_cast<double>(chunk) / static_cast<double>(best));
    return least * (1 + 0.2 * std::abs(distance));
  };
}

void tune(ChunkTuner& tuner, const std::function<double(std::size_t)>& time) {
  for (int n = 0; n < 100 && tuner.tuning(); ++n) exchange(tuner, 1, time);
  ASSERT_FALSE(tuner.tuning());
}

TEST(ChunkTuner, SettlesOnTheFastestSize) {
  for (const std::size_t best : {MiB / 4, MiB, 8 * MiB, 64 * MiB}) {
    ChunkTuner tuner(256 * MiB);
    EXPECT_TRUE(tuner.tuning());
    tune(tuner, valley(best, 1e-3));
    EXPECT_EQ(tuner.chunk(), best);
  }
}

TEST(ChunkTuner, ReportsEverySizeItTried) {
  ChunkTuner tuner(3 * MiB);
  EXPECT_TRUE(tuner.tried_sizes().empty());
  tune(tuner, valley(MiB, 1e-3));
  EXPECT_FALSE(tuner.whole());
  std::vector<std::size_t> sizes;
  for (const PieceTrial& trial : tuner.tried_sizes()) {
    sizes.push_back(trial.bytes);
    EXPECT_EQ(trial.seconds, valley(MiB, 1e-3)(trial.bytes));
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{MiB / 4, MiB / 2, MiB, 2 * MiB, 3 * MiB}));
}

TEST(ChunkTuner, MayLeaveBlocksWhole) {
  ChunkTuner tuner(3 * MiB);
  tune(tuner, [](std::size_t chunk) { return 1.0 / static_cast<double>(chunk); });
  EXPECT_EQ(tuner.chunk(), 3 * MiB);
  EXPECT_TRUE(tuner.whole());
}

TEST(ChunkTuner, HasNoChoiceForSmallBlocks) {
  ChunkTuner tuner(MiB / 8);
  EXPECT_FALSE(tuner.tuning());
  exchange(tuner, 1000, [](std::size_t) { return 1.0; });
  EXPECT_FALSE(tuner.tuning());
  EXPECT_EQ(tuner.chunk(), MiB / 8);
}

TEST(ChunkTuner, PassesOverTheFirstExchangeWithASize) {
  ChunkTuner tuner(2 * MiB);
  std::size_t last = 0;
  tune(tuner, [&](std::size_t chunk) {
    const bool first = chunk != last;
    last = chunk;
    return (first ? 1e-6 : valley(MiB, 1e-3)(chunk));  // as if the first were free
  });
  EXPECT_EQ(tuner.chunk(), MiB);
}

TEST(ChunkTuner, IsNotFooledByOneLuckyExchange) {
  ChunkTuner tuner(256 * MiB);
  int lucky = 0;
  tune(tuner, [&](std::size_t chunk) {
    if (chunk == 64 * MiB && ++lucky == 3) return 0.5e-3;
    return valley(MiB, 1e-3)(chunk);
  });
  EXPECT_GT(lucky, 3) << "it must have been a finalist";
  EXPECT_EQ(tuner.chunk(), MiB);
}

TEST(ChunkTuner, ThinksAgainWhenExchangesStaySlower) {
  ChunkTuner tuner(64 * MiB);
  tune(tuner, valley(MiB, 1e-3));
  exchange(tuner, 3 * ChunkTuner::window, valley(MiB, 1e-3));
  EXPECT_FALSE(tuner.tuning());
  exchange(tuner, ChunkTuner::patience * ChunkTuner::window, valley(8 * MiB, 1.3e-3));
  EXPECT_TRUE(tuner.tuning());
  tune(tuner, valley(8 * MiB, 1.3e-3));
  EXPECT_EQ(tuner.chunk(), 8 * MiB);
  exchange(tuner, 10 * ChunkTuner::window, valley(8 * MiB, 1.3e-3));  // that is how it is now
  EXPECT_FALSE(tuner.tuning());
}

TEST(ChunkTuner, IsNotMovedByChanceOrLittle) {
  ChunkTuner tuner(64 * MiB);
  tune(tuner, valley(MiB, 1e-3));
  for (int repeat = 0; repeat < 10; ++repeat) {
    exchange(tuner, ChunkTuner::window, valley(MiB, 1e-3));
    exchange(tuner, ChunkTuner::window, valley(MiB, 2e-3));  // one slow window
    exchange(tuner, ChunkTuner::window, valley(MiB, 1.08e-3));
  }
  EXPECT_FALSE(tuner.tuning());
  EXPECT_EQ(tuner.chunk(), MiB);
}

}  // namespace
}  // namespace sluice
