// A grid that moves along x gives the flow that a grid at rest gives to an observer who moves with it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "solver/grid/stretching.hpp"
#include "solver/statistics/statistics.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using test::Flow;
using test::FlowCase;
using test::GlobalArray;

constexpr double shift = 0.63;

FlowCase settings_for(const test::Discretisation& form, double velocity) {
  FlowCase settings;
  settings.cells = {16, 10, 14};
  settings.length_x = 3;
  settings.length_y = 1.7;
  settings.z_nodes = tanh_nodes(14, 2, 1.9, true);
  settings.grid_velocity = velocity;
  settings.flow.viscosity = 0.004;
  settings.flow.bottom.velocity = {-0.4 + velocity, 0.1, 0};
  settings.flow.top.velocity = {0.2 + velocity, 0, 0};
  settings.flow.forcing = {ForcingKind::bulk_velocity, 0.3 + velocity};
  settings.flow.diffusion = form.diffusion;
  settings.flow.order = form.order;
  return settings;
}

/// The largest |a + constant - b|.
double difference(const GlobalArray& a, const GlobalArray& b, double constant) {
  double largest = 0;
  for (std::size_t n = 0; n < a.values.size(); ++n)
    largest = std::max(largest, std::abs(a.values[n] + constant - b.values[n]));
  return largest;
}

class MovingGrid : public testing::TestWithParam<test::Discretisation> {};

TEST_P(MovingGrid, GivesTheFlowOfAMovingObserver) {
  Flow at_rest(settings_for(GetParam(), 0));
  Flow moving(settings_for(GetParam(), shift));
  at_rest.set_random(5);
  moving.set_random(5);
  const GlobalArray u = at_rest.read(at_rest.state.velocity.u);
  moving.set(moving.state.velocity.u, [&](double x, double y, double z) {
    const auto index = [](double at, double spacing) { return static_cast<std::int64_t>(at / spacing); };
    const auto faces = moving.grid.z_nodes();
    const auto k = std::upper_bound(faces.begin(), faces.end(), z) - faces.begin() - 1;
    return u(static_cast<std::int64_t>(std::lround(x / moving.grid.dx())) - 1, index(y, moving.grid.dy()), k) + shift;
  });
  moving.stepper.fill_halos(moving.state);
  for (int n = 0; n < 6; ++n) {
    const double limit = at_rest.stepper.time_step_limit(at_rest.state);
    test::expect_at_most("dt_lim, relative difference",
                         std::abs(moving.stepper.time_step_limit(moving.state) / limit - 1), test::round_off(1e-12));
    const double force = at_rest.advance(1, 0.9 * limit);
    test::expect_at_most("force, difference", std::abs(moving.advance(1, 0.9 * limit) - force), test::round_off(1e-11));
  }
  const auto compare = [&](const char* name, const Field& a, const Field& b, double constant) {
    test::expect_at_most(std::string(name) + " after six steps, difference",
                         difference(at_rest.read(a), moving.read(b), constant), test::round_off(1e-12));
  };
  const State& a = at_rest.state;
  const State& b = moving.state;
  compare("u", a.velocity.u, b.velocity.u, shift);
  compare("v", a.velocity.v, b.velocity.v, 0);
  compare("w", a.velocity.w, b.velocity.w, 0);
  compare("p", a.p, b.p, 0);
  EXPECT_GT(difference(at_rest.read(a.velocity.v), at_rest.read(a.velocity.w), 0), 0.1);
}

/// A wave v = cos(x - U t) that a stream U carries stands still on a grid that moves with it: no numerical dispersion.
TEST_P(MovingGrid, KeepsAWaveThatMovesWithIt) {
  FlowCase settings;
  settings.cells = {8, 3, 4};
  settings.grid_velocity = shift;
  settings.flow.bottom.kind = settings.flow.top.kind = WallKind::free_slip;
  settings.flow.diffusion = GetParam().diffusion;
  settings.flow.order = GetParam().order;
  Flow flow(settings);
  const auto wave = [](double x, double, double) { return std::cos(3 * x); };
  const auto zero = [](double, double, double) { return 0.0; };
  flow.set_velocity([](double, double, double) { return shift; }, wave, zero);
  const GlobalArray before = flow.read(flow.state.velocity.v);
  flow.advance(50, 0.2);
  test::expect_at_most("change of v in 50 steps", difference(before, flow.read(flow.state.velocity.v), 0),
                       test::round_off(1e-13));
}

INSTANTIATE_TEST_SUITE_P(Discretisations, MovingGrid, testing::ValuesIn(test::discretisations),
                         [](const auto& form) { return test::name_of(form.param); });

}  // namespace
}  // namespace sluice
