// Start-up of plane Poiseuille and Couette flow from rest against their series, on three grids, from
// nu t / h^2 = 0.05 on: walls, forcing and diffusion in time, second order in space.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "solver/grid/stretching.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using std::numbers::pi;
using test::Flow;
using test::FlowCase;

constexpr double viscosity = 0.1;

enum class Spacing { uniform, tanh };

struct Variant {
  Diffusion diffusion;
  Spacing spacing;
};

std::string name_of(const Variant& variant) {
  return test::name_of(variant.diffusion) + (variant.spacing == Spacing::tanh ? ", tanh" : ", uniform");
}

/// Poiseuille start-up under the force G between resting walls at s = -1 and 1, h = 1.
double poiseuille(double force, double s, double t) {
  double sum = 0;
  for (int n = 0; n < 40; ++n) {
    const double m = 2 * n + 1;
    sum +=
        (n % 2 == 0 ? 1 : -1) / (m * m * m) * std::cos(m * pi * s / 2) * std::exp(-m * m * pi * pi * viscosity * t / 4);
  }
  return force / (2 * viscosity) * (1 - s * s) - 16 * force / (pi * pi * pi * viscosity) * sum;
}

/// Couette start-up over the gap H = 2: rest at s = 0, velocity 1 at s = 2.
double couette(double s, double t) {
  double sum = 0;
  for (int n = 1; n <= 40; ++n) {
    sum += (n % 2 == 0 ? 1.0 : -1.0) / n * std::sin(n * pi * s / 2) * std::exp(-n * n * pi * pi * viscosity * t / 4);
  }
  return s / 2 + 2 / pi * sum;
}

FlowCase settings_for(const Variant& variant, std::int64_t nz) {
  FlowCase settings;
  settings.cells = {4, 2, nz};
  if (variant.spacing == Spacing::tanh) settings.z_nodes = tanh_nodes(nz, 2, 1.5, true);
  settings.flow.viscosity = viscosity;
  settings.flow.diffusion = variant.diffusion;
  return settings;
}

/// Largest rms error of u and v at nu t = 0.05, 0.1, 0.2 and 0.5. The time step falls with the square of the
/// cell height.
double startup_error(const FlowCase& settings, const std::function<double(double z, double t)>& u,
                     const std::function<double(double z, double t)>& v) {
  Flow flow(settings);
  const auto rest = [](double, double, double) { return 0.0; };
  flow.set_velocity(rest, rest, rest);
  // explicit: below its limit, 0.63; implicit: above it
  const double diffusion_number = settings.flow.diffusion == Diffusion::explicit_ ? 0.5 : 1.0;
  const double dz = flow.grid.dz_min();
  double worst = 0;
  for (const double nu_t : {0.05, 0.1, 0.2, 0.5}) {
    const double length = nu_t / viscosity - flow.state.time;
    const int steps = static_cast<int>(std::ceil(length * viscosity / (diffusion_number * dz * dz)));
    flow.advance(steps, length / steps);
    const double t = flow.state.time;
    worst = std::max(worst, flow.rms_error(flow.state.velocity.u, [&](double, double, double z) { return u(z, t); }));
    worst = std::max(worst, flow.rms_error(flow.state.velocity.v, [&](double, double, double z) { return v(z, t); }));
  }
  return worst;
}

class StartUp : public testing::TestWithParam<Variant> {
 protected:
  void SetUp() override {
    if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  }
};

TEST_P(StartUp, Poiseuille) {
  std::vector<double> heights, errors;
  for (const std::int64_t nz : {16, 32, 64}) {
    FlowCase settings = settings_for(GetParam(), nz);
    settings.flow.forcing = {ForcingKind::pressure_gradient, 2 * viscosity};
    heights.push_back(2.0 / static_cast<double>(nz));
    errors.push_back(startup_error(
        settings, [](double z, double t) { return poiseuille(2 * viscosity, z - 1, t); },
        [](double, double) { return 0.0; }));
  }
  test::expect_order("Poiseuille, " + name_of(GetParam()), heights, errors, 1.9);
  test::expect_at_most("Poiseuille, " + name_of(GetParam()) + ", error at nz = 64 over the centre velocity",
                       errors.back(), 5e-4);
}

TEST_P(StartUp, CouetteWithBothWallsMoving) {
  std::vector<double> heights, errors;
  for (const std::int64_t nz : {16, 32, 64}) {
    FlowCase settings = settings_for(GetParam(), nz);
    settings.flow.bottom = {WallKind::no_slip, -0.6, 0.5};
    settings.flow.top = {WallKind::no_slip, 1.0, -0.2};
    heights.push_back(2.0 / static_cast<double>(nz));
    errors.push_back(startup_error(
        settings, [](double z, double t) { return couette(z, t) - 0.6 * couette(2 - z, t); },
        [](double z, double t) { return -0.2 * couette(z, t) + 0.5 * couette(2 - z, t); }));
  }
  test::expect_order("Couette, " + name_of(GetParam()), heights, errors, 1.9);
  test::expect_at_most("Couette, " + name_of(GetParam()) + ", error at nz = 64 over the wall velocity", errors.back(),
                       5e-4);
}

/// An open channel is the lower half of a channel: the free-slip wall is its plane of symmetry.
TEST_P(StartUp, OpenChannel) {
  std::vector<double> heights, errors;
  for (const std::int64_t nz : {8, 16, 32}) {
    FlowCase settings = settings_for(GetParam(), nz);
    settings.z_nodes = GetParam().spacing == Spacing::tanh ? tanh_nodes(nz, 1, 1.5, false) : uniform_nodes(nz, 1);
    settings.flow.top.kind = WallKind::free_slip;
    settings.flow.forcing = {ForcingKind::pressure_gradient, 2 * viscosity};
    heights.push_back(1.0 / static_cast<double>(nz));
    errors.push_back(startup_error(
        settings, [](double z, double t) { return poiseuille(2 * viscosity, z - 1, t); },
        [](double, double) { return 0.0; }));
  }
  test::expect_order("open channel, " + name_of(GetParam()), heights, errors, 1.9);
}

INSTANTIATE_TEST_SUITE_P(
    Variants, StartUp,
    testing::Values(Variant{Diffusion::explicit_, Spacing::uniform}, Variant{Diffusion::explicit_, Spacing::tanh},
                    Variant{Diffusion::implicit_z, Spacing::uniform}, Variant{Diffusion::implicit_z, Spacing::tanh}),
    [](const auto& variant) {
      return test::name_of(variant.param.diffusion) + (variant.param.spacing == Spacing::tanh ? "_tanh" : "_uniform");
    });

}  // namespace
}  // namespace sluice
