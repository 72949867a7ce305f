// When something is due in simulation time, and the time after steps of equal length.
#include "model/schedule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "solver/state/equal_steps.hpp"

namespace sluice {
namespace {

/// The time after n steps: as a product, and as a sum with its round-off.
struct Times {
  explicit Times(double dt) : dt(dt) {}
  double product() const { return static_cast<double>(n) * dt; }
  void step() {
    ++n;
    sum += dt;
  }

  double dt;
  std::int64_t n = 0;
  double sum = 0;
};

TEST(Schedule, EventsAreAtTheStepsThatReachThem) {
  constexpr std::int64_t per_event = 25;
  for (const double dt : {0.02, 0.01, 0.03, 0.07, 0.1, 1e-3, 1e-5, 1.0 / 3}) {
    const Schedule schedule{dt * per_event};
    Times times(dt);
    for (std::int64_t n = 1; n <= 100000; ++n) {
      const double sum = times.sum;
      const double product = times.product();
      times.step();
      ASSERT_EQ(schedule.passed(product, times.product()), n % per_event == 0) << dt << ' ' << n;
      ASSERT_EQ(schedule.passed(sum, times.sum), n % per_event == 0) << dt << ' ' << n;
    }
  }
}

TEST(Schedule, NoStepIsEarly) {
  for (const double time : {1e-3, 1.0, 60.0, 1e4}) {
    const double before = time - 1e-6 * time;
    EXPECT_FALSE(is_reached(time, before));
    EXPECT_TRUE(is_reached(time, time));
    EXPECT_TRUE(is_reached(time, std::nextafter(time, 0)));
    EXPECT_FALSE(Schedule{time}.passed(0, before));
    EXPECT_TRUE(Schedule{time}.passed(before, std::nextafter(time, 0)));
    EXPECT_FALSE((Schedule{time}.passed(std::nextafter(time, 0), 1.5 * time)));
  }
}

TEST(Schedule, BeginsAtItsOrigin) {
  const Schedule schedule{0.5, 0.3};
  EXPECT_EQ(schedule.index(0), -1);
  EXPECT_EQ(schedule.index(0.2999), -1);
  EXPECT_EQ(schedule.index(3 * 0.1), 0);
  EXPECT_EQ(schedule.index(0.1 + 0.7), 1);
  EXPECT_EQ(schedule.due(2), 1.3);
  EXPECT_EQ((Schedule{0.5, 0}.index(0)), 0);  // the initial field is not after a step: the first passed is number 1
}

TEST(EqualSteps, TheTimeIsAProduct) {
  EqualSteps steps;
  double time = 0;
  const auto take = [&](double dt) {
    steps = steps.after_step(time, dt);
    time = steps.end();
  };
  for (std::int64_t n = 1; n <= 1000; ++n) {
    take(0.1);
    ASSERT_EQ(time, static_cast<double>(n) * 0.1);
  }
  const double begin = time;
  for (std::int64_t n = 1; n <= 10; ++n) {
    take(0.03);
    ASSERT_EQ(time, begin + static_cast<double>(n) * 0.03);
  }
  double sum = time;
  for (const double dt : {0.011, 0.012, 0.013}) {
    take(dt);
    sum += dt;
    EXPECT_EQ(time, sum);
  }
}

TEST(EqualSteps, BeginAnewIfTheTimeWasSet) {
  const EqualSteps before{0.1, 0, 7};
  const EqualSteps after = before.after_step(5, 0.1);
  EXPECT_EQ(after.begin, 5);
  EXPECT_EQ(after.steps, 1);
  EXPECT_EQ(before.after_step(before.end(), 0.1).steps, 8);
}

}  // namespace
}  // namespace sluice
