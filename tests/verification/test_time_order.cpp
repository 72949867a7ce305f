// Order in time on a fixed grid: differences between runs whose time step halves. Third order with explicit
// diffusion, second with z-implicit diffusion.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "solver/grid/stretching.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using test::Flow;
using test::FlowCase;
using test::GlobalArray;

FlowCase settings_for(const test::Discretisation& form) {
  FlowCase settings;
  settings.cells = {12, 10, 16};
  settings.length_x = 4;
  settings.length_y = 3;
  settings.z_nodes = tanh_nodes(16, 2, 1.2, true);
  settings.flow.viscosity = 0.02;
  settings.flow.top.velocity[0] = 0.2;
  settings.flow.forcing = {ForcingKind::bulk_velocity, 1};
  settings.flow.diffusion = form.diffusion;
  settings.flow.order = form.order;
  return settings;
}

/// The same developed flow for every time step: some short steps from a smooth field, so that it fits the
/// walls and p belongs to it.
void prepare(Flow& flow) {
  using std::cos, std::sin;
  const double a = 2 * std::numbers::pi / flow.grid.length_x();
  const double b = 2 * std::numbers::pi / flow.grid.length_y();
  const double c = std::numbers::pi / 2;
  flow.set_velocity(
      [&](double x, double y, double z) {
        return 1.5 * z * (2 - z) + 0.5 * sin(a * x) * cos(b * y) * sin(2 * c * z) * sin(c * z);
      },
      [&](double x, double y, double z) { return 0.5 * cos(a * x) * sin(b * y) * sin(c * z) * sin(c * z); },
      [&](double x, double y, double z) { return 0.5 * sin(a * x + 1) * sin(b * y) * sin(c * z) * sin(c * z); });
  flow.stepper.project(flow.state);
  flow.advance(200, 0.001);
}

struct Velocity {
  GlobalArray u, v, w;
};

double difference(const Velocity& a, const Velocity& b) {
  double sum = 0;
  const auto add = [&](const GlobalArray& x, const GlobalArray& y) {
    for (std::size_t n = 0; n < x.values.size(); ++n) sum += std::pow(x.values[n] - y.values[n], 2);
  };
  add(a.u, b.u);
  add(a.v, b.v);
  add(a.w, b.w);
  return std::sqrt(sum / static_cast<double>(3 * a.u.values.size()));
}

class TimeOrder : public testing::TestWithParam<test::Discretisation> {};

TEST_P(TimeOrder, ThirdWithExplicitDiffusionAndSecondWithImplicit) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  constexpr int fewest_steps = 10;
  constexpr double length = 0.4;
  std::vector<Velocity> results;
  std::vector<double> dts;
  for (int level = 0; level < 5; ++level) {
    Flow flow(settings_for(GetParam()));
    prepare(flow);
    const int steps = fewest_steps << level;
    const double dt = length / steps;
    if (level == 0)
      test::expect_at_most(test::name_of(GetParam()) + ": largest dt / dt_lim",
                           dt / flow.stepper.time_step_limit(flow.state), 1);
    flow.advance(steps, dt);
    const VectorField& velocity = flow.state.velocity;
    results.push_back({flow.read(velocity.u), flow.read(velocity.v), flow.read(velocity.w)});
    dts.push_back(dt);
  }
  std::vector<double> errors;
  for (std::size_t n = 1; n < results.size(); ++n) errors.push_back(difference(results[n - 1], results[n]));
  dts.pop_back();
  test::expect_order("velocity, " + test::name_of(GetParam()) + ": differences at dt and dt/2", dts, errors,
                     GetParam().diffusion == Diffusion::explicit_ ? 2.8 : 1.9);
}

INSTANTIATE_TEST_SUITE_P(Discretisations, TimeOrder, testing::ValuesIn(test::discretisations_and_implicit),
                         [](const auto& form) { return test::name_of(form.param); });

}  // namespace
}  // namespace sluice
