// Advection conserves momentum and kinetic energy in space exactly, and in time to the order of the
// Runge-Kutta scheme (Verstappen & Veldman, J. Comput. Phys. 187, 343, 2003).
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <tuple>

#include "solver/grid/stretching.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using test::Flow;
using test::FlowCase;
using test::GlobalArray;

/// Inviscid flow between resting walls, or over them, on a strongly stretched grid that moves.
FlowCase inviscid(std::array<std::int64_t, 3> cells, WallKind walls, Order order) {
  FlowCase settings;
  settings.cells = cells;
  settings.length_x = 3;
  settings.length_y = 1.7;
  settings.z_nodes = tanh_nodes(cells[2], 2, 2.5, true);
  settings.grid_velocity = 0.4;
  settings.flow.bottom.kind = walls;
  settings.flow.top.kind = walls;
  settings.flow.order = order;
  return settings;
}

/// Sums over all control volumes of one component.
struct Balance {
  double energy = 0;              ///< u . C u
  double energy_magnitude = 0;    ///< |u . C u|
  double momentum = 0;            ///< C u
  double momentum_magnitude = 0;  ///< |C u|
};

Balance balance(const Flow& flow, const Field& velocity, const Field& tendency) {
  const GlobalArray u = flow.read(velocity);
  const GlobalArray r = flow.read(tendency);
  Balance sum;
  for (std::int64_t k = 0; k < u.cells[2]; ++k) {
    const double volume = flow.height(velocity.location(), k);
    for (std::int64_t j = 0; j < u.cells[1]; ++j) {
      for (std::int64_t i = 0; i < u.cells[0]; ++i) {
        const double work = u(i, j, k) * r(i, j, k) * volume;
        sum.energy += work;
        sum.energy_magnitude += std::abs(work);
        sum.momentum += r(i, j, k) * volume;
        sum.momentum_magnitude += std::abs(r(i, j, k) * volume);
      }
    }
  }
  return sum;
}

/// What leaves the sum of w's control volumes, which end at the centres next to the walls: ww there, per
/// area.
double w_flux_through_ends(const Flow& flow) {
  const GlobalArray w = flow.read(flow.state.velocity.w);
  const std::int64_t last = w.cells[2] - 1;
  double flux = 0;
  for (std::int64_t j = 0; j < w.cells[1]; ++j) {
    for (std::int64_t i = 0; i < w.cells[0]; ++i) {
      flux += (std::pow(w(i, j, last - 1), 2) - std::pow(w(i, j, 0), 2)) / 4;
    }
  }
  return flux;
}

class Advection : public testing::TestWithParam<std::tuple<WallKind, Order>> {};

TEST_P(Advection, ConservesEnergyAndMomentumOnAStretchedGrid) {
  const auto [walls, order] = GetParam();
  Flow flow(inviscid({20, 15, 24}, walls, order));
  flow.set_random(7);
  VectorField tendency(flow.state.p.box(), order);
  VectorField star(flow.state.p.box(), order);
  flow.stepper.momentum().predict(flow.state, flow.state.p, {}, tendency, star);  // nu = 0: the tendency is -C u

  const VectorField& velocity = flow.state.velocity;
  const Balance u = balance(flow, velocity.u, tendency.u);
  const Balance v = balance(flow, velocity.v, tendency.v);
  const Balance w = balance(flow, velocity.w, tendency.w);
  const double energy = u.energy + v.energy + w.energy;
  const double magnitude = u.energy_magnitude + v.energy_magnitude + w.energy_magnitude;
  EXPECT_GT(magnitude, 1);
  test::expect_at_most("|<u, C u>| / sum |u . C u V|", std::abs(energy) / magnitude, test::round_off(1e-14));
  test::expect_at_most("|sum C u V| / sum |C u V|", std::abs(u.momentum) / u.momentum_magnitude,
                       test::round_off(1e-14));
  test::expect_at_most("|sum C v V| / sum |C v V|", std::abs(v.momentum) / v.momentum_magnitude,
                       test::round_off(1e-14));
  test::expect_at_most("w: |sum C w V - what leaves at the ends| / sum |C w V|",
                       std::abs(w.momentum + w_flux_through_ends(flow)) / w.momentum_magnitude, test::round_off(1e-14));
}

/// A smooth divergence-free field between resting walls.
void set_smooth(Flow& flow) {
  using std::cos, std::sin;
  const double a = 2 * std::numbers::pi / flow.grid.length_x();
  const double b = 2 * std::numbers::pi / flow.grid.length_y();
  const double c = std::numbers::pi / 2;
  flow.set_velocity([&](double x, double y, double z) { return 1 + sin(a * x) * cos(b * y) * sin(c * z); },
                    [&](double x, double y, double z) { return 0.7 * cos(a * x + 1) * sin(b * y) * sin(2 * c * z); },
                    [&](double x, double y, double z) { return 0.5 * sin(a * x) * sin(b * y + 1) * sin(c * z); });
  flow.stepper.project(flow.state);
}

TEST_P(Advection, EnergyDriftFallsWithTheThirdPowerOfTheTimeStep) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  std::vector<double> dts, drifts;
  for (const int steps : {16, 32, 64, 128}) {
    Flow flow(inviscid({20, 15, 24}, std::get<WallKind>(GetParam()), std::get<Order>(GetParam())));
    set_smooth(flow);
    const double before = flow.stepper.diagnose(flow.state).kinetic_energy;
    const double dt = 0.25 / steps;
    if (steps == 16) test::expect_at_most("largest dt / dt_lim", dt / flow.stepper.time_step_limit(flow.state), 1);
    flow.advance(steps, dt);
    dts.push_back(dt);
    drifts.push_back(std::abs(flow.stepper.diagnose(flow.state).kinetic_energy - before) / before);
  }
  test::expect_order("relative energy drift at nu = 0", dts, drifts, 2.9);
}

std::string name_of_case(const testing::TestParamInfo<std::tuple<WallKind, Order>>& info) {
  return (std::get<WallKind>(info.param) == WallKind::no_slip ? "no_slip_" : "free_slip_") +
         test::name_of(std::get<Order>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Walls, Advection,
                         testing::Combine(testing::Values(WallKind::no_slip, WallKind::free_slip),
                                          testing::Values(Order::second, Order::fourth)),
                         name_of_case);

}  // namespace
}  // namespace sluice
