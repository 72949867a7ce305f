// The time step that `sluice check` foretells, against those of runs with cfl 0.9 and implicit_z.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "solver/grid/stretching.hpp"
#include "solver/time_step_limit.hpp"
#include "solver/walls/wave_actuation.hpp"
#include "src/run/time_step_estimate.hpp"

namespace sluice {
namespace {

using std::numbers::pi;

FlowParameters flow_with(double viscosity, Order order) {
  FlowParameters flow;
  flow.viscosity = viscosity;
  flow.diffusion = Diffusion::implicit_z;
  flow.order = order;
  return flow;
}

FlowParameters channel(double reynolds, Order order) {
  FlowParameters flow = flow_with(2 / reynolds, order);
  flow.forcing = {ForcingKind::bulk_velocity, 1};
  return flow;
}

double expected_step(const Grid& grid, const FlowParameters& flow) {
  return 0.9 / (expected_advective_rate(grid, flow) + diffusive_rate(grid, flow));
}

void expect_within(double tolerance, const Grid& grid, const FlowParameters& flow, double measured) {
  EXPECT_LE(std::abs(expected_step(grid, flow) / measured - 1), tolerance)
      << "expected " << expected_step(grid, flow) << ", measured " << measured;
}

/// cases/accuracy on four grids.
Grid accuracy_grid(std::int64_t nx, std::int64_t ny, double velocity) {
  return Grid({nx, ny, 144}, 4 * pi, 4 * pi / 3, natural_nodes(144, 2, 182, true), velocity);
}

TEST(TimeStepEstimate, AgreesWithRunsOfAChannel) {
  struct Run {
    std::int64_t nx, ny;
    Order order;
    double velocity, step;
  };
  for (const Run& run : {Run{128, 96, Order::second, 0, 0.03447}, Run{192, 128, Order::second, 0, 0.03512},
                         Run{256, 192, Order::second, 0, 0.03067}, Run{384, 256, Order::second, 0, 0.02358},
                         Run{128, 96, Order::fourth, 0, 0.03626}, Run{192, 128, Order::fourth, 0, 0.03348},
                         Run{256, 192, Order::fourth, 0, 0.02745}, Run{384, 256, Order::fourth, 0, 0.02070},
                         Run{192, 128, Order::second, 0.6, 0.04549}, Run{256, 192, Order::second, 0.6, 0.03915},
                         Run{384, 256, Order::second, 0.6, 0.03181}, Run{128, 96, Order::fourth, 0.6, 0.0447},
                         Run{192, 128, Order::fourth, 0.6, 0.04313}, Run{256, 192, Order::fourth, 0.6, 0.03634},
                         Run{384, 256, Order::fourth, 0.6, 0.02850}})
    expect_within(0.15, accuracy_grid(run.nx, run.ny, run.velocity), channel(5714, run.order), run.step);
}

TEST(TimeStepEstimate, AgreesWithRunsOfOtherFlows) {
  expect_within(0.15, Grid({384, 384, 256}, 2 * pi, pi, natural_nodes(256, 2, 544, true), 0.58),
                channel(20000, Order::fourth), 0.01147);
  for (const auto& [velocity, step] : {std::pair{0.0, 0.0567}, std::pair{0.6, 0.0729}})
    expect_within(0.15, Grid({64, 64, 64}, 2 * pi, 0.8 * pi, tanh_nodes(64, 2, 1.6, true), velocity),
                  channel(5600, Order::fourth), step);

  FlowParameters couette = flow_with(1.0 / 1500, Order::fourth);
  couette.bottom.velocity[0] = -1;
  couette.top.velocity[0] = 1;
  expect_within(0.21, Grid({512, 256, 96}, 20 * pi, 4 * pi, natural_nodes(96, 2, 93, true)), couette, 0.0498);

  FlowParameters open = flow_with(1.0 / 180, Order::fourth);
  open.top.kind = WallKind::free_slip;
  open.forcing = {ForcingKind::pressure_gradient, 1};
  expect_within(0.15, Grid({256, 256, 96}, 4 * pi, 2 * pi, tanh_nodes(96, 1, 1.6, false), 9), open, 0.0017);
}

TEST(TimeStepEstimate, KnowsHowFastWallsMove) {
  const Grid grid({64, 64, 64}, 2 * pi, 0.8 * pi, tanh_nodes(64, 2, 1.6, true), 0.6);
  FlowParameters flow = channel(5600, Order::fourth);
  flow.bottom.actuation = make_actuation(oscillation(), 2, WaveParameters{.period = 8});
  const double rate = 7.0 / 6 * (0.6 / grid.dx() + 2 / grid.dy()) / std::sqrt(3.0);
  EXPECT_NEAR(expected_advective_rate(grid, flow), rate, 1e-2 * rate);
  flow.bottom.actuation = make_actuation(blowing_suction(), 1, WaveParameters{.wavelength_x = pi});
  EXPECT_GT(expected_advective_rate(grid, flow), 0.99 / grid.dz(0) / std::sqrt(3.0));
}

TEST(TimeStepEstimate, AdvisesAMovingGridUnderAMeanFlow) {
  const auto advice = grid_velocity_advice(accuracy_grid(384, 256, 0), channel(5714, Order::fourth));
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->velocity, 0.6);
  EXPECT_NEAR(advice->factor, 0.0285 / 0.0207, 0.1);
  EXPECT_FALSE(grid_velocity_advice(accuracy_grid(384, 256, 0.6), channel(5714, Order::fourth)));
  FlowParameters couette = flow_with(1.0 / 1500, Order::fourth);
  couette.bottom.velocity[0] = -1;
  couette.top.velocity[0] = 1;
  EXPECT_FALSE(grid_velocity_advice(Grid({512, 256, 96}, 20 * pi, 4 * pi, natural_nodes(96, 2, 93, true)), couette));
}

/// Couette flow lasts at lower Re_tau than a channel, and its threshold is one of the speed of the walls.
TEST(TimeStepEstimate, KnowsWhereTurbulenceLasts) {
  const Grid grid({512, 256, 96}, 20 * pi, 4 * pi, natural_nodes(96, 2, 93, true));
  const auto couette = [&](double reynolds) {
    FlowParameters flow = flow_with(1 / reynolds, Order::fourth);
    flow.bottom.velocity[0] = -1;
    flow.top.velocity[0] = 1;
    return is_turbulent(grid, flow);
  };
  EXPECT_FALSE(couette(323));
  EXPECT_TRUE(couette(325));
  FlowParameters oblique = flow_with(1.0 / 325, Order::fourth);
  oblique.bottom.velocity = {-0.6, -0.8, 0};
  oblique.top.velocity = {0.6, 0.8, 0};
  EXPECT_TRUE(is_turbulent(grid, oblique));
  EXPECT_NEAR(transition_reynolds(grid, oblique).value, 325, 1e-9);
  EXPECT_FALSE(is_turbulent(grid, channel(1400, Order::fourth)));  // Re_tau near 57
  EXPECT_TRUE(is_turbulent(grid, channel(1600, Order::fourth)));   // Re_tau near 63
}

TEST(TimeStepEstimate, IsExactForLaminarFlow) {
  FlowParameters flow = flow_with(1.0 / 100, Order::second);
  flow.forcing = {ForcingKind::pressure_gradient, 0.02};
  const Grid grid({8, 4, 32}, 4, 2, uniform_nodes(32, 2));
  EXPECT_FALSE(is_turbulent(grid, flow));
  EXPECT_NEAR(expected_advective_rate(grid, flow), 1 / grid.dx() / std::sqrt(3.0), 0.01);
}

TEST(TimeStepEstimate, TakesTheRootMeanSquareOfAForcingInTime) {
  FlowParameters flow = flow_with(1.0 / 100, Order::second);
  flow.forcing = {ForcingKind::pressure_gradient, Formula::parse("-0.01 - 0.02*cos(pi*t)", "t")};
  const ForcingRange range = forcing_range(flow.forcing, 10);
  EXPECT_NEAR(range.least, -0.03, 1e-6);
  EXPECT_NEAR(range.greatest, 0.01, 1e-6);
  EXPECT_NEAR(range.typical, -0.01 * std::sqrt(3), 1e-6);
  const FlowParameters typical = with_typical_forcing(flow, 10);
  EXPECT_TRUE(typical.forcing.value.is_constant());
  EXPECT_EQ(typical.forcing.value.constant(), range.typical);
  EXPECT_EQ(with_typical_forcing(typical, 10), typical);
}

}  // namespace
}  // namespace sluice
