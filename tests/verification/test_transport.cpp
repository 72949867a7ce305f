// A transported field: advected by a uniform flow and diffused, it must follow the exact solution with second order, on
// every process grid, and leave the flow alone.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "solver/momentum/operators.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using test::Flow;
using test::FlowCase;

constexpr double diffusivity = 0.05;
constexpr double speed_x = 1;
constexpr double speed_y = -0.5;
constexpr double mean = 2;

/// -div(u c) + kappa lap c at centres.
struct AdvectionDiffusion {
  real kappa;
  SLUICE_INLINE real operator()(const TransportArrays& a, Cell at) const {
    const auto [i, j, k, west, east] = at;
    const auto& c = a.c;
    const real x = a.u(i, j, k) * (c(i, j, k) + c(east, j, k)) - a.u(west, j, k) * (c(west, j, k) + c(i, j, k));
    const real y = a.v(i, j, k) * (c(i, j, k) + c(i, j + 1, k)) - a.v(i, j - 1, k) * (c(i, j - 1, k) + c(i, j, k));
    const real z = a.w(i, j, k) * (c(i, j, k) + c(i, j, k + 1)) - a.w(i, j, k - 1) * (c(i, j, k - 1) + c(i, j, k));
    return kappa * (op::d2dx2(c, at, a.m) + op::d2dy2(c, at, a.m) + op::d2dz2_center(c, at, a.m)) -
           (x * a.m.inv_dx + y * a.m.inv_dy + z * a.m.inv_dz[k]) / 2;
  }
};

FlowCase settings_for(std::int64_t n, Diffusion diffusion, bool with_field) {
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
  return mean + std::exp(-diffusivity * (2 + c * c) * t) * std::cos(x - speed_x * t) * std::cos(y - speed_y * t) *
                    std::cos(c * z);
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

INSTANTIATE_TEST_SUITE_P(EitherDiffusion, Tracer, testing::Values(Diffusion::explicit_, Diffusion::implicit_z),
                         [](const auto& tested) { return test::name_of(tested.param); });

}  // namespace
}  // namespace sluice
