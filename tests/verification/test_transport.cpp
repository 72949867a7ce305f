// A transported field: advected by a uniform flow and diffused, it must follow the exact solution with second order, on
// every process grid, and leave the flow alone. Its diffusivity limits the time step; values that are not finite are
// found.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "solver/momentum/operators.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using test::Flow;
using test::FlowCase;

constexpr double kappa = 0.05;
constexpr double speed_x = 1;
constexpr double speed_y = -0.5;
constexpr double mean = 2;

/// -div(u c) + kappa lap c at centres.
struct AdvectionDiffusion {
  real diffusivity;
  SLUICE_INLINE real operator()(const TransportArrays& a, Cell at) const {
    const auto [i, j, k, west, east] = at;
    const auto& c = a.c;
    const real x = a.u(i, j, k) * (c(i, j, k) + c(east, j, k)) - a.u(west, j, k) * (c(west, j, k) + c(i, j, k));
    const real y = a.v(i, j, k) * (c(i, j, k) + c(i, j + 1, k)) - a.v(i, j - 1, k) * (c(i, j - 1, k) + c(i, j, k));
    const real z = a.w(i, j, k) * (c(i, j, k) + c(i, j, k + 1)) - a.w(i, j, k - 1) * (c(i, j, k - 1) + c(i, j, k));
    return diffusivity * (op::d2dx2<Order::second>(c, at, a.m) + op::d2dy2<Order::second>(c, at, a.m) +
                          op::d2dz2_center(c, at, a.m)) -
           (x * a.m.inv_dx + y * a.m.inv_dy + z * a.m.inv_dz[k]) / 2;
  }
};

FlowCase settings_for(std::int64_t n, Diffusion diffusion, bool with_field, double diffusivity = kappa) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  FlowCase settings;
  settings.cells = {n, n, n};
  settings.z_blocks = 4;
  settings.processes = ranks == 4 ? ProcessGrid{2, 2} : ProcessGrid{1, ranks};
  settings.flow.viscosity = 0.01;
  settings.flow.bottom.kind = settings.flow.top.kind = WallKind::free_slip;
  settings.flow.diffusion = diffusion;
  if (with_field)
    settings.transported = {transport_equation({"c", "tracer", "1"}, AdvectionDiffusion{real(diffusivity)})};
  return settings;
}

double exact(double x, double y, double z, double t) {
  const double c = std::numbers::pi / 2;
  return mean +
         std::exp(-kappa * (2 + c * c) * t) * std::cos(x - speed_x * t) * std::cos(y - speed_y * t) * std::cos(c * z);
}

class Tracer : public testing::TestWithParam<Diffusion> {};

TEST_P(Tracer, FollowsTheExactSolutionWithSecondOrder) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  std::vector<double> sizes;
  std::vector<double> errors;
  for (const std::int64_t n : {16, 32}) {
    Flow flow(settings_for(n, GetParam(), true), MPI_COMM_WORLD);
    flow.set_velocity([](double, double, double) { return speed_x; }, [](double, double, double) { return speed_y; },
                      [](double, double, double) { return 0.0; });
    ASSERT_EQ(flow.state.fields().back().descriptor.name, "c");
    Field& c = flow.state.fields().back().field;
    flow.set(c, [](double x, double y, double z) { return exact(x, y, z, 0); });
    flow.stepper.fill_halos(flow.state);
    const auto steps = static_cast<int>(n / 2);
    flow.advance(steps, 0.8 / steps);
    sizes.push_back(flow.grid.dx());
    errors.push_back(flow.rms_error(c, [](double x, double y, double z) { return exact(x, y, z, 0.8); }));
    double sum = 0;
    for (const double value : flow.read(c).values) sum += value;
    test::expect_at_most("change of the mean", std::abs(sum / static_cast<double>(n * n * n) - mean), 1e-13);
  }
  test::expect_order("transported field, " + test::name_of(GetParam()), sizes, errors, 1.9);
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

/// 4 diffusivity (1/dx^2 + 1/dy^2 + 1/dz_min^2)/2.51, with or without the last term.
double diffusive_rate_of(double diffusivity, const Grid& grid, bool with_z) {
  const double squares = std::pow(grid.dx(), -2) + std::pow(grid.dy(), -2) + (with_z ? std::pow(grid.dz_min(), -2) : 0);
  return 4 * diffusivity * squares / 2.51;
}

TEST_P(Tracer, LimitsTheTimeStepByItsDiffusivity) {
  for (const double diffusivity : {1e-6, kappa, 2.0}) {  // the viscosity is 0.01
    Flow flow(settings_for(16, GetParam(), true, diffusivity), MPI_COMM_WORLD);
    const double of_flow = diffusive_rate_of(0.01, flow.grid, GetParam() == Diffusion::explicit_);
    const double expected = 1 / std::max(of_flow, diffusive_rate_of(diffusivity, flow.grid, true));
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
  ASSERT_EQ(diagnostics.max_transported.size(), 1U);
  test::expect_at_most("largest value after 100 steps at 0.95 dt_lim", diagnostics.max_transported.front(), 1);
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

INSTANTIATE_TEST_SUITE_P(EitherDiffusion, Tracer, testing::Values(Diffusion::explicit_, Diffusion::implicit_z),
                         [](const auto& tested) { return test::name_of(tested.param); });

}  // namespace
}  // namespace sluice
