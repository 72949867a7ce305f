// Phases of a step: their names, and what the timers and the watchdog know of them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/device/timers.hpp"
#include "core/support/phase.hpp"
#include "core/support/phases.hpp"

namespace sluice {
namespace {

TEST(Phases, EveryNameLeadsBackToItsPhase) {
  for (std::size_t n = 0; n < phase_names.size(); ++n) {
    const auto phase = static_cast<TimedPhase>(n);
    EXPECT_EQ(phase_named(name_of(phase)), phase) << name_of(phase);
  }
  EXPECT_STREQ(name_of(TimedPhase::momentum), "momentum");
  EXPECT_STREQ(name_of(TimedPhase::halo_exchange), "halo exchange");
  EXPECT_STREQ(name_of(TimedPhase::communication), "communication");
  EXPECT_EQ(phase_named("pressure"), std::nullopt);
}

TEST(Phases, TheWatchdogSeesWhatIsTimed) {
  PhaseTimers timers;
  EXPECT_EQ(Phase::open(), "");
  {
    const Phase substep("substep 2");
    const PhaseTimers::Scope scope(timers, TimedPhase::halo_exchange);
    EXPECT_EQ(Phase::open(), "substep 2, halo exchange");
  }
  EXPECT_EQ(Phase::open(), "");
}

TEST(Phases, TimesAreAddedInTheOrderOfFirstAppearance) {
  PhaseTimers timers;
  timers.enable();
  for (const TimedPhase phase : {TimedPhase::fft_y, TimedPhase::fft_x, TimedPhase::fft_y})
    const PhaseTimers::Scope scope(timers, phase);
  const auto totals = timers.phases();
  ASSERT_EQ(totals.size(), 2U);
  EXPECT_EQ(totals[0].phase, TimedPhase::fft_y);
  EXPECT_EQ(totals[0].calls, 2);
  EXPECT_EQ(totals[1].phase, TimedPhase::fft_x);
  EXPECT_EQ(totals[1].calls, 1);
}

}  // namespace
}  // namespace sluice
