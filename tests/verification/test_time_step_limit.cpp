// The time-step limit: its formula, and that a flow stepped just below it does not blow up.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/device/parallel_for.hpp"
#include "solver/grid/stretching.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using test::Flow;
using test::FlowCase;
using test::GlobalArray;

FlowCase settings_for(const test::Discretisation& form, double viscosity) {
  FlowCase settings;
  settings.cells = {14, 9, 16};
  settings.length_x = 3;
  settings.length_y = 1.5;
  settings.z_nodes = tanh_nodes(16, 2, 1.5, true);
  settings.grid_velocity = 0.45;
  settings.flow.viscosity = viscosity;
  settings.flow.diffusion = form.diffusion;
  settings.flow.order = form.order;
  return settings;
}

/// 1/dt_lim = max(kappa (|u - V|/dx + |v|/dy) + |w|/dz)/sqrt(3) + 4 nu (kappa^2/dx^2 + kappa^2/dy^2 + 1/dz_min^2)/2.51,
/// the dz term of the second part with explicit diffusion only, and 1/H^2 in place of all of them if diffusion is
/// implicit in all directions; w's own dz is the distance between the centres on its sides.
double direct_limit(const Flow& flow) {
  const GlobalArray u = flow.read(flow.state.velocity.u);
  const GlobalArray v = flow.read(flow.state.velocity.v);
  const GlobalArray w = flow.read(flow.state.velocity.w);
  const Grid& grid = flow.grid;
  const double kappa = flow.settings.flow.order == Order::fourth ? 7.0 / 6 : 1;
  double rate = 0;
  for (std::int64_t k = 0; k < u.cells[2]; ++k) {
    for (std::int64_t j = 0; j < u.cells[1]; ++j) {
      for (std::int64_t i = 0; i < u.cells[0]; ++i) {
        const double along_z = k + 1 < u.cells[2] ? std::abs(w(i, j, k)) / grid.dz_center(k) : 0;
        const double in_plane = std::abs(u(i, j, k) - grid.velocity()) / grid.dx() + std::abs(v(i, j, k)) / grid.dy();
        rate = std::max(rate, kappa * in_plane + along_z);
      }
    }
  }
  const Diffusion diffusion = flow.settings.flow.diffusion;
  const double in_plane = kappa * kappa * (std::pow(grid.dx(), -2) + std::pow(grid.dy(), -2));
  const double squares = diffusion == Diffusion::implicit     ? std::pow(grid.z_nodes().back(), -2)
                         : diffusion == Diffusion::implicit_z ? in_plane
                                                              : in_plane + std::pow(grid.dz_min(), -2);
  return 1 / (rate / std::sqrt(3.0) + 4 * flow.settings.flow.viscosity * squares / 2.51);
}

class TimeStepLimit : public testing::TestWithParam<test::Discretisation> {};

TEST_P(TimeStepLimit, FollowsItsFormula) {
  for (const double viscosity : {0.0, 0.01, 1.0}) {
    Flow flow(settings_for(GetParam(), viscosity));
    flow.set_random(9);
    const double limit = flow.stepper.time_step_limit(flow.state);
    test::expect_at_most("dt_lim, relative difference from the formula", std::abs(limit / direct_limit(flow) - 1),
                         test::round_off(1e-14));
  }
}

/// A step finds the largest rate of the velocity at the start of its last substep, for the step after.
TEST_P(TimeStepLimit, IsFoundByTheStepBefore) {
  Flow by_steps(settings_for(GetParam(), 0.01));
  Flow by_substeps(settings_for(GetParam(), 0.01));
  by_steps.set_random(9);
  by_substeps.set_random(9);
  AdvancingState advancing(std::move(by_steps.state));
  double before = 0;
  for (int n = 0; n < 3; ++n) {
    const double dt = 0.9 * by_steps.stepper.time_step_limit(by_steps.stepper.state(advancing));
    by_steps.stepper.advance(advancing, dt);
    const double found = by_steps.stepper.reduce_rate_of_step();
    double rate = 0;
    for (int k = 0; k < Rk3::substeps; ++k) {
      rate = by_substeps.stepper.largest_rate(by_substeps.state);
      by_substeps.stepper.substep(by_substeps.state, dt, k);
    }
    EXPECT_NE(rate, before);
    before = rate;
    if (loops_on_gpu) {
      test::expect_at_most("rate found by a step, relative difference", std::abs(found / rate - 1),
                           test::round_off(1e-13));
    } else {
      EXPECT_EQ(found, rate);
    }
  }
}

/// Unforced between resting walls, the energy can only fall.
TEST_P(TimeStepLimit, KeepsRoughFlowsBounded) {
  for (const double viscosity : {1e-4, 0.01, 1.0}) {
    Flow flow(settings_for(GetParam(), viscosity));
    flow.set_random(9);
    double before = flow.stepper.diagnose(flow.state).kinetic_energy;
    double largest_growth = 0;
    for (int n = 0; n < 100; ++n) {
      flow.advance(1, 0.95 * flow.stepper.time_step_limit(flow.state));
      const double after = flow.stepper.diagnose(flow.state).kinetic_energy;
      largest_growth = std::max(largest_growth, after / before);
      before = after;
    }
    test::expect_at_most("nu = " + std::to_string(viscosity) + ": largest energy ratio of two steps at 0.95 dt_lim",
                         largest_growth, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Discretisations, TimeStepLimit, testing::ValuesIn(test::discretisations_and_implicit),
                         [](const auto& form) { return test::name_of(form.param); });

}  // namespace
}  // namespace sluice
