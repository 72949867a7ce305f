// The size and number of pieces in flight that a tuned exchange settles on, and when it thinks again.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "core/decomp/exchange/chunk_tuner.hpp"

namespace sluice {
namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

using Time = std::function<double(const Pieces&)>;

/// Exchanges whose time depends on the pieces.
void exchange(ChunkTuner& tuner, int count, const Time& time) {
  for (int n = 0; n < count; ++n) {
    const auto agreed = tuner.finished(time(tuner.pieces()));
    if (agreed) tuner.agree(*agreed);
  }
}

/// Least at `best` bytes, whatever the limit.
auto valley(std::size_t best, double least) {
  return [=](const Pieces& pieces) {
    const double distance = std::log2(static_cast<double>(pieces.bytes) / static_cast<double>(best));
    return least * (1 + 0.2 * std::abs(distance));
  };
}

/// Least at one size and one limit; at other sizes the same limit is best, too.
auto valley(const Pieces& best, double least) {
  return [=, of_sizes = valley(best.bytes, least)](const Pieces& pieces) {
    return of_sizes(pieces) * (pieces.in_flight == best.in_flight ? 1 : 1.15);
  };
}

void tune(ChunkTuner& tuner, const Time& time) {
  for (int n = 0; n < 100 && tuner.tuning(); ++n) exchange(tuner, 1, time);
  ASSERT_FALSE(tuner.tuning());
}

TEST(ChunkTuner, SettlesOnTheFastestSize) {
  for (const std::size_t best : {MiB / 4, MiB, 8 * MiB, 64 * MiB}) {
    ChunkTuner tuner(256 * MiB);
    EXPECT_TRUE(tuner.tuning());
    tune(tuner, valley(best, 1e-3));
    EXPECT_EQ(tuner.pieces().bytes, best);
  }
}

TEST(ChunkTuner, SettlesOnTheFastestSizeAndLimit) {
  for (const std::size_t limit : {0, 1, 4, 16}) {
    ChunkTuner tuner(256 * MiB, 5);
    const Pieces best{2 * MiB, limit};
    tune(tuner, valley(best, 1e-3));
    EXPECT_EQ(tuner.pieces(), best) << tuner.pieces().bytes << " bytes, " << tuner.pieces().in_flight << " in flight";
  }
}

TEST(ChunkTuner, PrefersNoLimitIfThatIsAsFast) {
  ChunkTuner tuner(256 * MiB, 5);
  tune(tuner, valley(MiB, 1e-3));
  EXPECT_EQ(tuner.pieces(), (Pieces{MiB, 0}));
}

TEST(ChunkTuner, ReportsAllThatItTried) {
  ChunkTuner tuner(3 * MiB, 2);
  EXPECT_TRUE(tuner.tried().empty());
  tune(tuner, valley(MiB, 1e-3));
  EXPECT_FALSE(tuner.whole());
  std::vector<Pieces> tried;
  for (const PieceTrial& trial : tuner.tried()) {
    tried.push_back(trial.pieces);
    EXPECT_EQ(trial.seconds, valley(MiB, 1e-3)(trial.pieces));
  }
  // Limits of the best two sizes, of which there are 12 and 6 pieces: no more than half of them.
  EXPECT_EQ(
      tried,
      (std::vector<Pieces>{
          {MiB / 4, 0}, {MiB / 2, 0}, {MiB, 0}, {2 * MiB, 0}, {3 * MiB, 0}, {MiB / 2, 1}, {MiB / 2, 4}, {MiB, 1}}));
}

TEST(ChunkTuner, LimitsBlocksThatAreTooSmallToBeCut) {
  ChunkTuner tuner(MiB / 8, 9);
  tune(tuner, valley(Pieces{MiB / 8, 4}, 1e-3));
  EXPECT_EQ(tuner.pieces(), (Pieces{MiB / 8, 4}));
  EXPECT_TRUE(tuner.whole());
}

TEST(ChunkTuner, KeepsWhatIsGiven) {
  ChunkTuner tuner(Pieces{MiB, 3});
  exchange(tuner, 1000, [n = 0](const Pieces&) mutable { return 1.0 * ++n; });
  EXPECT_EQ(tuner.pieces(), (Pieces{MiB, 3}));
  EXPECT_EQ(tuner.tunings(), 0);
}

TEST(ChunkTuner, MayLeaveBlocksWhole) {
  ChunkTuner tuner(3 * MiB);
  tune(tuner, [](const Pieces& pieces) { return 1.0 / static_cast<double>(pieces.bytes); });
  EXPECT_EQ(tuner.pieces().bytes, 3 * MiB);
  EXPECT_TRUE(tuner.whole());
}

TEST(ChunkTuner, HasNoChoiceForSmallBlocks) {
  ChunkTuner tuner(MiB / 8);
  EXPECT_FALSE(tuner.tuning());
  exchange(tuner, 1000, [](const Pieces&) { return 1.0; });
  EXPECT_FALSE(tuner.tuning());
  EXPECT_EQ(tuner.pieces().bytes, MiB / 8);
}

TEST(ChunkTuner, PassesOverTheFirstExchangeWithASize) {
  ChunkTuner tuner(2 * MiB);
  Pieces last;
  tune(tuner, [&](const Pieces& pieces) {
    const bool first = pieces != last;
    last = pieces;
    return (first ? 1e-6 : valley(MiB, 1e-3)(pieces));  // as if the first were free
  });
  EXPECT_EQ(tuner.pieces().bytes, MiB);
}

TEST(ChunkTuner, IsNotFooledByOneLuckyExchange) {
  ChunkTuner tuner(256 * MiB);
  int lucky = 0;
  tune(tuner, [&](const Pieces& pieces) {
    if (pieces == Pieces{64 * MiB, 0} && ++lucky == 3) return 0.5e-3;
    return valley(MiB, 1e-3)(pieces);
  });
  EXPECT_GT(lucky, 4) << "it must have been a finalist";
  EXPECT_EQ(tuner.pieces().bytes, MiB);
}

TEST(ChunkTuner, ThinksAgainWhenExchangesStaySlower) {
  ChunkTuner tuner(64 * MiB);
  tune(tuner, valley(MiB, 1e-3));
  exchange(tuner, 3 * ChunkTuner::window, valley(MiB, 1e-3));
  EXPECT_FALSE(tuner.tuning());
  exchange(tuner, ChunkTuner::patience * ChunkTuner::window, valley(8 * MiB, 1.3e-3));
  EXPECT_TRUE(tuner.tuning());
  tune(tuner, valley(8 * MiB, 1.3e-3));
  EXPECT_EQ(tuner.pieces().bytes, 8 * MiB);
  exchange(tuner, 10 * ChunkTuner::window, valley(8 * MiB, 1.3e-3));  // that is how it is now
  EXPECT_FALSE(tuner.tuning());
}

// As when another job loads the network: what was best is slow, and few pieces in flight are better; and back.
TEST(ChunkTuner, ThinksAgainAboutTheLimit) {
  ChunkTuner tuner(64 * MiB, 3);
  const Pieces quiet{4 * MiB, 0}, crowded{MiB, 1};
  tune(tuner, valley(quiet, 1e-3));
  exchange(tuner, ChunkTuner::window, valley(quiet, 1e-3));
  EXPECT_EQ(tuner.pieces(), quiet);
  EXPECT_EQ(tuner.tunings(), 1);
  exchange(tuner, ChunkTuner::patience * ChunkTuner::window, valley(crowded, 2e-3));
  tune(tuner, valley(crowded, 2e-3));
  EXPECT_EQ(tuner.pieces(), crowded);
  EXPECT_EQ(tuner.tunings(), 2);
  exchange(tuner, 10 * ChunkTuner::window, valley(quiet, 1e-3));  // faster than in the crowd, so nothing is wrong
  EXPECT_EQ(tuner.pieces(), crowded);
  EXPECT_EQ(tuner.tunings(), 2);
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
  EXPECT_EQ(tuner.pieces().bytes, MiB);
}

}  // namespace
}  // namespace sluice
