// The mean balance: bulk velocity exactly at its target, wall rows intact under the force, laminar flow that
// stays steady, and the momentum of each plane changed by exactly the force and the difference of the total
// stress.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "poisson/tridiagonal/tridiagonal_rows.hpp"
#include "solver/grid/stretching.hpp"
#include "solver/initial.hpp"
#include "solver/statistics/statistics.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using test::Flow;
using test::FlowCase;
using test::GlobalArray;

FlowCase channel(const test::Discretisation& form) {
  FlowCase settings;
  settings.cells = {16, 12, 24};
  settings.length_x = 4;
  settings.length_y = 2;
  settings.z_nodes = tanh_nodes(24, 2, 1.8, true);
  settings.flow.viscosity = 1.0 / 300;
  settings.flow.forcing = {ForcingKind::bulk_velocity, 1};
  settings.flow.diffusion = form.diffusion;
  settings.flow.order = form.order;
  return settings;
}

std::vector<double> plane_means(const Flow& flow, const Field& field) {
  const GlobalArray values = flow.read(field);
  const std::int64_t columns = values.cells[0] * values.cells[1];
  std::vector<double> means;
  for (std::int64_t k = 0; k < values.cells[2]; ++k) {
    double sum = 0;
    for (std::int64_t n = 0; n < columns; ++n) sum += values.values[static_cast<std::size_t>(k * columns + n)];
    means.push_back(sum / static_cast<double>(columns));
  }
  return means;
}

/// The profiles of one sample by their names.
std::map<std::string, std::vector<double>> sample(const Flow& flow, double force) {
  Statistics statistics(flow.grid, flow.stepper.metrics(), flow.settings.flow, flow.stepper.walls(), flow.state.p.box(),
                        {.budgets = true}, flow.comm.world());
  statistics.sample(flow.state, force);
  std::map<std::string, std::vector<double>> profiles;
  for (std::size_t n = 0; n < statistics.profiles().size(); ++n)
    profiles[statistics.profiles()[n].name] = statistics.open_block().sums[n];
  return profiles;
}

class Forcing : public testing::TestWithParam<test::Discretisation> {};

TEST_P(Forcing, BulkVelocityStaysAtItsTarget) {
  double worst = 0;
  for (const double target : {1.0, 0.73}) {
    for (const bool moving : {false, true}) {
      FlowCase settings = channel(GetParam());
      settings.flow.forcing.value = target;
      if (moving) settings.flow.top.velocity[0] = 0.5;
      Flow flow(settings);
      set_turbulent(flow.state, flow.stepper, flow.grid, settings.flow, 1, flow.comm.world());
      worst = std::max(worst, std::abs(flow.stepper.diagnose(flow.state).bulk_velocity / target - 1));
      for (int n = 0; n < 60; ++n) {
        flow.stepper.substep(flow.state, 0.9 * flow.stepper.time_step_limit(flow.state), n % 3);
        worst = std::max(worst, std::abs(flow.stepper.diagnose(flow.state).bulk_velocity / target - 1));
      }
    }
  }
  test::expect_at_most("largest |U_b / target - 1| after each of 240 substeps", worst, test::round_off(2e-15));
}

/// With a flow uniform in x and y there is no pressure correction, and the forced momentum equation must hold
/// in every row.
TEST_P(Forcing, LeavesTheWallRowsIntact) {
  FlowCase settings = channel(GetParam());
  settings.flow.viscosity = 0.05;
  settings.flow.bottom = {WallKind::no_slip, -0.3, 0};
  settings.flow.top = {WallKind::no_slip, 0.4, 0};
  Flow flow(settings);
  const auto zero = [](double, double, double) { return 0.0; };
  flow.set_velocity([](double, double, double z) { return 1 + 0.2 * std::sin(5 * z); }, zero, zero);
  const TridiagonalRows rows = second_derivative_centers(flow.grid.z_nodes(), WallRow::dirichlet, WallRow::dirichlet);
  const auto lz = [&](const std::vector<double>& u, std::size_t k) {
    const double dz = flow.grid.dz(0);
    const double below = k > 0 ? rows.lower[k] * u[k - 1] : 2 * settings.flow.bottom.velocity[0].constant() / (dz * dz);
    const double above =
        k + 1 < u.size() ? rows.upper[k] * u[k + 1] : 2 * settings.flow.top.velocity[0].constant() / (dz * dz);
    return below + rows.diagonal[k] * u[k] + above;
  };
  const std::vector<double> before = plane_means(flow, flow.state.velocity.u);
  const double dt = 0.5 * flow.stepper.time_step_limit(flow.state);
  const double force = flow.stepper.substep(flow.state, dt, 0).x;
  const std::vector<double> after = plane_means(flow, flow.state.velocity.u);
  const double c = Rk3::gamma(0) * dt * settings.flow.viscosity;
  const double implicit_part = GetParam().diffusion != Diffusion::explicit_ ? 0.5 : 0;
  double worst = 0;
  double change = 0;
  for (std::size_t k = 0; k < before.size(); ++k) {
    const double right = before[k] + c * ((1 - implicit_part) * lz(before, k) + implicit_part * lz(after, k)) +
                         Rk3::gamma(0) * dt * force;
    worst = std::max(worst, std::abs(after[k] - right));
    change = std::max(change, std::abs(after[k] - before[k]));
  }
  test::expect_at_most("residual of the forced equation over the change, every row", worst / change,
                       test::round_off(1e-13));
}

TEST_P(Forcing, LaminarFlowStaysSteady) {
  const std::map<ForcingKind, double> values{{ForcingKind::bulk_velocity, 1},
                                             {ForcingKind::pressure_gradient, 2.0 / 300},
                                             {ForcingKind::power, 2.0 / 300},
                                             {ForcingKind::none, 0}};
  for (const auto& [kind, value] : values) {
    FlowCase settings = channel(GetParam());
    settings.cells = {8, 5, 24};
    settings.flow.forcing = {kind, value};
    settings.flow.bottom = {WallKind::no_slip, -0.3, 0.2};
    settings.flow.top = {WallKind::no_slip, 0.4, -0.1};
    Flow flow(settings);
    set_laminar(flow.state, flow.stepper, flow.grid, settings.flow);
    const GlobalArray u = flow.read(flow.state.velocity.u);
    const GlobalArray v = flow.read(flow.state.velocity.v);
    const double dt = 0.9 * flow.stepper.time_step_limit(flow.state);
    const double force = flow.advance(200, dt);
    const GlobalArray later_u = flow.read(flow.state.velocity.u);
    const GlobalArray later_v = flow.read(flow.state.velocity.v);
    double change = 0;
    for (std::size_t n = 0; n < u.values.size(); ++n) {
      change = std::max({change, std::abs(later_u.values[n] - u.values[n]), std::abs(later_v.values[n] - v.values[n])});
    }
    test::expect_at_most("change of the laminar flow in 200 steps", change, test::round_off(1e-13));

    const auto sampled = sample(flow, force);
    const std::vector<double> tau = sampled.at("tau_xz");
    const std::vector<double> uw = sampled.at("uw");
    const double slope = (tau.front() - tau.back()) / flow.grid.length_z();
    double worst = 0;
    for (std::size_t k = 0; k < tau.size(); ++k) {
      worst = std::max(worst, std::abs(tau[k] - uw[k] - (tau.front() - slope * flow.grid.z_nodes()[k])));
    }
    const double scale = settings.flow.viscosity / flow.grid.dz_min();  // of a velocity difference of 1 over a cell
    test::expect_at_most("distance of the total stress from a straight line", worst / scale, test::round_off(1e-14));
    // A force that keeps the bulk velocity to the last digit is itself known to that digit over dt only.
    test::expect_at_most("force - wall stresses, times dt", std::abs(force - slope) * dt, test::round_off(1e-14));
  }
}

class MeanMomentum : public testing::TestWithParam<Order> {};

/// After one explicit substep: <u>_new - <u> = gamma dt (f + d/dz (tau - uw)) in each plane, the sampled
/// fluxes being those of the scheme. The pressure and its correction have no share in it.
TEST_P(MeanMomentum, ChangesByForceAndTotalStress) {
  FlowCase settings = channel({Diffusion::explicit_, GetParam()});
  settings.flow.top = {WallKind::no_slip, 0.3, 0};
  Flow flow(settings);
  set_turbulent(flow.state, flow.stepper, flow.grid, settings.flow, 4, flow.comm.world());
  const double dt = 0.9 * flow.stepper.time_step_limit(flow.state);
  flow.advance(5, dt);
  const auto sampled = sample(flow, 0);
  const std::vector<double> tau = sampled.at("tau_xz");
  const std::vector<double> uw = sampled.at("uw");
  const std::vector<double> before = plane_means(flow, flow.state.velocity.u);
  const double force = flow.stepper.substep(flow.state, dt, 0).x;
  const std::vector<double> after = plane_means(flow, flow.state.velocity.u);
  double worst = 0;
  double change = 0;
  double stress = 0;
  for (std::size_t k = 0; k < before.size(); ++k) {
    const double divergence = (tau[k + 1] - uw[k + 1] - tau[k] + uw[k]) / flow.grid.dz(static_cast<std::int64_t>(k));
    worst = std::max(worst, std::abs(after[k] - before[k] - Rk3::gamma(0) * dt * (force + divergence)));
    change = std::max(change, std::abs(after[k] - before[k]));
    stress = std::max(stress, std::abs(uw[k]));
  }
  // So that a missing term would show: both are far above the bound.
  test::expect_at_least("largest |uw|", stress, 1e-4);
  test::expect_at_least("largest change of the mean velocity", change, 1e-5);
  test::expect_at_most("residual of the mean momentum balance, bulk velocity 1", worst, test::round_off(1e-14));
}

INSTANTIATE_TEST_SUITE_P(Discretisations, Forcing, testing::ValuesIn(test::discretisations_and_implicit),
                         [](const auto& form) { return test::name_of(form.param); });
INSTANTIATE_TEST_SUITE_P(Orders, MeanMomentum, testing::Values(Order::second, Order::fourth),
                         [](const auto& order) { return test::name_of(order.param); });

}  // namespace
}  // namespace sluice
