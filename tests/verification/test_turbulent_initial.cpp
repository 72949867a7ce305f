// The turbulent initial field: divergence-free, at the bulk velocity, with fluctuations of the size of wall
// turbulence and different for every seed; and the laminar and turbulent mean profiles behind the initial
// fields.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "solver/grid/stretching.hpp"
#include "solver/initial.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using std::numbers::pi;
using test::Flow;
using test::FlowCase;
using test::GlobalArray;

FlowCase channel(Order order = Order::second, std::array<std::int64_t, 3> cells = {48, 32, 48}) {
  FlowCase settings;
  settings.cells = cells;
  settings.length_x = 4 * pi;
  settings.length_y = 4 * pi / 3;
  settings.z_nodes = tanh_nodes(cells[2], 2, 1.6, true);
  settings.flow.viscosity = 2.0 / 5714;
  settings.flow.forcing = {ForcingKind::bulk_velocity, 1};
  settings.flow.order = order;
  return settings;
}

/// Root mean square, over the volume, of what is left when each plane's mean is taken away.
double fluctuation(const Flow& flow, const Field& field) {
  const GlobalArray f = flow.read(field);
  const std::int64_t columns = f.cells[0] * f.cells[1];
  double sum = 0;
  double volume = 0;
  for (std::int64_t k = 0; k < f.cells[2]; ++k) {
    const double* plane = f.values.data() + k * columns;
    double mean = 0;
    for (std::int64_t n = 0; n < columns; ++n) mean += plane[n] / static_cast<double>(columns);
    for (std::int64_t n = 0; n < columns; ++n)
      sum += std::pow(plane[n] - mean, 2) / static_cast<double>(columns) * flow.height(field.location(), k);
    volume += flow.height(field.location(), k);
  }
  return std::sqrt(sum / volume);
}

class TurbulentInitial : public testing::TestWithParam<Order> {};

TEST_P(TurbulentInitial, ChannelOfAnySeed) {
  GlobalArray first;
  for (const std::uint64_t seed : {1, 2, 123456789}) {
    const FlowCase settings = channel(GetParam());
    Flow flow(settings);
    set_turbulent(flow.state, flow.stepper, flow.grid, settings.flow, seed, flow.comm.world());
    const Diagnostics d = flow.stepper.diagnose(flow.state);
    const double u_tau = turbulent_profile(flow.grid, settings.flow).friction_velocity;
    const double smallest = flow.grid.dz_min();
    test::expect_at_most("largest |div u| dz_min / U_b", d.max_divergence * smallest, test::round_off(1e-13));
    test::expect_at_most("|U_b / target - 1|", std::abs(d.bulk_velocity - 1), test::round_off(2e-15));
    test::expect_at_most("Re_tau of the mean profile, relative to 182.1 (Lee & Moser 2015)",
                         std::abs(u_tau / settings.flow.viscosity / 182.09 - 1), 0.05);
    for (const Field* field : {&flow.state.velocity.u, &flow.state.velocity.v, &flow.state.velocity.w}) {
      const double rms = fluctuation(flow, *field) / u_tau;
      test::expect_at_least("rms of the fluctuations over u_tau", rms, 0.5);
      test::expect_at_most("rms of the fluctuations over u_tau", rms, 4);
    }
    const GlobalArray u = flow.read(flow.state.velocity.u);
    if (first.values.empty()) {
      first = u;
    } else {
      double difference = 0;
      for (std::size_t n = 0; n < u.values.size(); ++n)
        difference = std::max(difference, std::abs(u.values[n] - first.values[n]));
      test::expect_at_least("largest difference from another seed over u_tau", difference / u_tau, 1);
    }
  }
}

TEST_P(TurbulentInitial, OpenChannelAndCouette) {
  FlowCase open = channel(GetParam());
  open.z_nodes = tanh_nodes(48, 1, 1.6, false);
  open.flow.top.kind = WallKind::free_slip;
  FlowCase couette = channel(GetParam());
  couette.flow.forcing = {ForcingKind::none, 0};
  couette.flow.viscosity = 1.0 / 1500;
  couette.flow.bottom.velocity[0] = -1;
  couette.flow.top.velocity[0] = 1;
  for (const FlowCase& settings : {open, couette}) {
    Flow flow(settings);
    set_turbulent(flow.state, flow.stepper, flow.grid, settings.flow, 1, flow.comm.world());
    const Diagnostics d = flow.stepper.diagnose(flow.state);
    const double target = settings.flow.forcing.kind == ForcingKind::bulk_velocity ? 1 : 0;
    test::expect_at_most("largest |div u| dz_min / U", d.max_divergence * flow.grid.dz_min(), test::round_off(1e-13));
    test::expect_at_most("|U_b - target|", std::abs(d.bulk_velocity - target),
                         target > 0 ? test::round_off(2e-15) : 0.05);
    const double u_tau = turbulent_profile(flow.grid, settings.flow).friction_velocity;
    const double rms = fluctuation(flow, flow.state.velocity.w) / u_tau;
    test::expect_at_least("rms of w over u_tau", rms, 0.5);
    test::expect_at_most("rms of w over u_tau", rms, 4);
    EXPECT_TRUE(d.finite());
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, TurbulentInitial, testing::Values(Order::second, Order::fourth),
                         [](const auto& order) { return test::name_of(order.param); });

/// Couette at Re_w = 1500 has Re_tau = 92.9 (Lee & Moser 2018): the profile's wall law is near it.
TEST(TurbulentProfile, FrictionVelocityOfCouetteFlow) {
  FlowCase settings = channel();
  settings.flow.forcing = {ForcingKind::none, 0};
  settings.flow.viscosity = 1.0 / 1500;
  settings.flow.bottom.velocity[0] = -1;
  settings.flow.top.velocity[0] = 1;
  const Flow flow(settings);
  const double re_tau = turbulent_profile(flow.grid, settings.flow).friction_velocity * 1500;
  test::expect_at_most("|Re_tau / 92.91 - 1|", std::abs(re_tau / 92.91 - 1), 0.1);
}

/// The laminar profile is the parabola to second order, and its bulk velocity the target exactly.
TEST(LaminarInitial, ParabolaToSecondOrder) {
  std::vector<double> heights, errors;
  for (const std::int64_t nz : {16, 32, 64}) {
    const FlowCase settings = channel(Order::second, {4, 4, nz});
    Flow flow(settings);
    set_laminar(flow.state, flow.stepper, flow.grid, settings.flow);
    heights.push_back(1.0 / static_cast<double>(nz));
    errors.push_back(flow.rms_error(flow.state.velocity.u, [](double, double, double z) { return 1.5 * z * (2 - z); }));
    test::expect_at_most("|U_b / target - 1|", std::abs(flow.stepper.diagnose(flow.state).bulk_velocity - 1),
                         test::round_off(2e-15));
  }
  test::expect_order("laminar profile on a stretched grid", heights, errors, 1.9);
}

}  // namespace
}  // namespace sluice
