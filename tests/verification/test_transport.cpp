// A scalar: advected by a uniform flow and diffused, it must follow the exact solution with the order of the
// scheme, on every process grid, and leave the flow alone. Its diffusivity limits the time step; values that are not
// finite are found.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using test::Flow;
using test::FlowCase;

constexpr double kappa = 0.05;
constexpr double speed_x = 1;
constexpr double speed_y = -0.5;
constexpr double mean = 2;

FlowCase settings_for(std::int64_t n, const test::Discretisation& form, bool with_field, double diffusivity = kappa) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  FlowCase settings;
  settings.cells = {n, n, n};
  settings.z_blocks = 4;
  settings.processes = ranks == 4 ? ProcessGrid{2, 2} : ProcessGrid{1, ranks};
  settings.flow.viscosity = 0.01;
  settings.flow.bottom.kind = settings.flow.top.kind = WallKind::free_slip;
  settings.flow.diffusion = form.diffusion;
  settings.flow.order = form.order;
  if (with_field) settings.flow.scalars = {{.name = "c", .prandtl = settings.flow.viscosity / diffusivity}};
  return settings;
}

/// A wave that a uniform flow carries; c: its wavenumber along z.
double exact(double c, double x, double y, double z, double t) {
  return mean +
         std::exp(-kappa * (2 + c * c) * t) * std::cos(x - speed_x * t) * std::cos(y - speed_y * t) * std::cos(c * z);
}

class Tracer : public testing::TestWithParam<test::Discretisation> {};

TEST_P(Tracer, FollowsTheExactSolutionWithTheOrderOfTheScheme) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  const bool second = GetParam().order == Order::second;
  const double along_z = second ? std::numbers::pi / 2 : 0;  // differences along z are of second order
  std::vector<double> sizes;
  std::vector<double> errors;
  for (const std::int64_t n : {16, 32}) {
    Flow flow(settings_for(n, GetParam(), true), MPI_COMM_WORLD);
    flow.set_velocity([](double, double, double) { return speed_x; }, [](double, double, double) { return speed_y; },
                      [](double, double, double) { return 0.0; });
    ASSERT_EQ(flow.state.fields().back().descriptor.name, "c");
    Field& c = flow.state.fields().back().field;
    flow.set(c, [&](double x, double y, double z) { return exact(along_z, x, y, z, 0); });
    flow.stepper.fill_halos(flow.state);
    const auto steps = static_cast<int>(second ? n / 2 : n);
    flow.advance(steps, 0.8 / steps);
    sizes.push_back(flow.grid.dx());
    errors.push_back(flow.rms_error(c, [&](double x, double y, double z) { return exact(along_z, x, y, z, 0.8); }));
    double sum = 0;
    for (const double value : flow.read(c).values) sum += value;
    test::expect_at_most("change of the mean", std::abs(sum / static_cast<double>(n * n * n) - mean), 1e-13);
  }
  test::expect_order("scalar, " + test::name_of(GetParam()), sizes, errors, second ? 1.9 : 3.9);
}

TEST_P(Tracer, LeavesTheFlowAlone) {
  Flow with(settings_for(16, GetParam(), true), MPI_COMM_WORLD);
  Flow without(settings_for(16, GetParam(), false), MPI_COMM_WORLD);
  for (Flow* flow : {&with, &without}) {
    flow->set_random(7);
    flow->advance(2, 0.01);
  }
  const auto fields = without.state.fields();
  for (std::size_t n = 0; n < fields.size(); ++n)
    EXPECT_EQ(with.read(with.state.fields()[n].field).values, without.read(fields[n].field).values)
        << fields[n].descriptor.name;
}

/// 4 diffusivity (kappa^2/dx^2 + kappa^2/dy^2 + 1/dz_min^2)/2.51, with or without the last term; kappa^2: 1 for order
/// 2, 49/36 for order 4. Without the part along z if it is implicit; 1/H^2 if all directions are.
double diffusive_rate_of(double diffusivity, const test::Discretisation& form, const Grid& grid) {
  const double in_plane = std::pow(grid.dx(), -2) + std::pow(grid.dy(), -2);
  const bool with_z = form.diffusion == Diffusion::explicit_;
  const double squares =
      (form.order == Order::fourth ? 49.0 / 36 : 1) * in_plane + (with_z ? std::pow(grid.dz_min(), -2) : 0);
  const double height = grid.z_nodes().back();
  return 4 * diffusivity * (form.diffusion == Diffusion::implicit ? 1 / (height * height) : squares) / 2.51;
}

TEST_P(Tracer, LimitsTheTimeStepByItsDiffusivity) {
  for (const double diffusivity : {1e-6, kappa, 2.0}) {  // the viscosity is 0.01
    Flow flow(settings_for(16, GetParam(), true, diffusivity), MPI_COMM_WORLD);
    const double expected = 1 / diffusive_rate_of(std::max(0.01, diffusivity), GetParam(), flow.grid);
    test::expect_at_most("dt_lim of a flow at rest, relative difference from the formula",
                         std::abs(flow.stepper.time_step_limit(flow.state) / expected - 1), test::round_off(1e-14));
  }
}

/// Just below dt_lim, a rough field in a rough flow only decays, however large its diffusivity.
TEST_P(Tracer, StaysBoundedBelowTheTimeStepLimit) {
  Flow flow(settings_for(16, GetParam(), true, 2.0), MPI_COMM_WORLD);
  flow.set_random(9);
  Field& c = flow.state.fields().back().field;
  flow.set(c, [](double x, double y, double z) { return std::sin(1e4 * (x + 2 * y + 3 * z)); });
  flow.stepper.fill_halos(flow.state);
  for (int n = 0; n < 100; ++n) flow.advance(1, 0.95 * flow.stepper.time_step_limit(flow.state));
  const Diagnostics diagnostics = flow.stepper.diagnose(flow.state);
  ASSERT_EQ(diagnostics.scalars.size(), 1U);
  test::expect_at_most("largest value after 100 steps at 0.95 dt_lim", diagnostics.scalars.front().largest, 1);
}

TEST_P(Tracer, IsRefusedWhereItIsNotFinite) {
  Flow flow(settings_for(16, GetParam(), true), MPI_COMM_WORLD);
  EXPECT_TRUE(flow.stepper.diagnose(flow.state).finite());
  for (const double bad : {std::nan(""), HUGE_VAL}) {
    flow.set(flow.state.fields().back().field, [&](double x, double y, double z) {
      return x < flow.grid.dx() && y < flow.grid.dy() && z > 2 - flow.grid.dz_min() ? bad : 0;
    });
    EXPECT_FALSE(flow.stepper.diagnose(flow.state).finite()) << bad;
  }
}

INSTANTIATE_TEST_SUITE_P(Discretisations, Tracer, testing::ValuesIn(test::discretisations_and_implicit),
                         [](const auto& form) { return test::name_of(form.param); });

}  // namespace
}  // namespace sluice
