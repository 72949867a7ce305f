// The velocity is divergence-free to round-off after every substep, for rough fields, all kinds of walls and
// sizes that divide badly.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "solver/grid/stretching.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using test::Flow;
using test::FlowCase;

struct Walls2 {
  const char* name;
  WallCondition bottom, top;
};

/// Largest |div u| over the substeps of two steps, in units of U/dx: the largest velocity over the smallest
/// spacing.
double largest_divergence(const FlowCase& settings) {
  Flow flow(settings);
  flow.set_random(17);
  double worst = 0;
  const double spacing = std::min({flow.grid.dx(), flow.grid.dy(), flow.grid.dz_min()});
  const auto measure = [&] { worst = std::max(worst, flow.stepper.diagnose(flow.state).max_divergence * spacing); };
  measure();
  const double dt = 0.8 * flow.stepper.time_step_limit(flow.state);
  for (int n = 0; n < 6; ++n) {
    flow.stepper.substep(flow.state, dt, n % 3);
    measure();
  }
  double speed = 0;
  for (const double u : flow.read(flow.state.velocity.u).values) speed = std::max(speed, std::abs(u));
  EXPECT_GT(speed, 0.05);
  return worst / speed;
}

TEST(Divergence, IsRoundOffForAllWallsAndSizes) {
  const WallCondition resting{WallKind::no_slip, 0, 0};
  const WallCondition moving{WallKind::no_slip, 1, -0.5};
  const WallCondition slip{WallKind::free_slip, 0, 0};
  double worst = 0;
  for (const auto& [diffusion, order] : test::discretisations_and_implicit) {
    for (const TridiagonalMethod method : {TridiagonalMethod::ptdma, TridiagonalMethod::transpose}) {
      for (const Walls2& walls :
           {Walls2{"channel", resting, resting}, Walls2{"moving", moving, resting}, Walls2{"open", resting, slip},
            Walls2{"slip below", slip, moving}, Walls2{"slip", slip, slip}}) {
        for (const auto& cells : {std::array<std::int64_t, 3>{7, 5, 11}, std::array<std::int64_t, 3>{13, 1, 9},
                                  std::array<std::int64_t, 3>{31, 17, 37}, std::array<std::int64_t, 3>{16, 12, 32},
                                  std::array<std::int64_t, 3>{2, 3, 4}}) {
          FlowCase settings;
          settings.cells = cells;
          settings.length_x = 3;
          settings.length_y = cells[1] == 1 ? 1 : 2;
          settings.z_nodes = tanh_nodes(cells[2], 2, 1.8, true);
          settings.z_blocks = cells[2] > 8 ? 3 : 1;
          settings.flow = {.viscosity = 0.01,
                           .bottom = walls.bottom,
                           .top = walls.top,
                           .forcing = {ForcingKind::bulk_velocity, 0.5},
                           .diffusion = diffusion,
                           .order = order,
                           .tridiagonal = method};
          const double measured = largest_divergence(settings);
          EXPECT_LE(measured, test::round_off(1e-12))
              << walls.name << ' ' << cells[0] << ' ' << cells[1] << ' ' << cells[2];
          worst = std::max(worst, measured);
        }
      }
    }
  }
  test::expect_at_most("largest |div u| dx / U of 200 cases", worst, test::round_off(1e-12));
}

/// With explicit diffusion the projection works in the pressure's own array.
TEST(Divergence, ProjectionLeavesThePressureAlone) {
  for (const test::Discretisation& form : test::discretisations_and_implicit) {
    FlowCase settings;
    settings.cells = {12, 7, 10};
    settings.z_nodes = tanh_nodes(10, 2, 1.8, true);
    settings.flow.viscosity = 0.01;
    settings.flow.diffusion = form.diffusion;
    settings.flow.order = form.order;
    Flow flow(settings);
    flow.set_random(5);
    flow.set(flow.state.p, [](double x, double y, double z) { return 1 + x + 2 * y - z; });
    flow.set(flow.state.velocity.u, [](double x, double y, double z) { return x * y + z; });
    flow.stepper.fill_halos(flow.state);
    const std::vector<double> before = flow.read(flow.state.p).values;
    flow.stepper.project(flow.state);
    EXPECT_EQ(flow.read(flow.state.p).values, before) << test::name_of(form);
    EXPECT_LT(flow.stepper.diagnose(flow.state).max_divergence, test::round_off(1e-11));
  }
}

}  // namespace
}  // namespace sluice
