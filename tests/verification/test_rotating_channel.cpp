// Channel flow in a frame that rotates about the spanwise axis: the laminar profile and its pressure, and the growth of
// streamwise rolls against their exact eigenvalue.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>

#include "solver/grid/stretching.hpp"
#include "solver/initial.hpp"
#include "tests/support/chebyshev.hpp"
#include "tests/support/flow_case.hpp"
#include "tests/support/rotating_channel.hpp"
#include "tests/support/rotation.hpp"

namespace sluice {
namespace {

using test::Flow;
using test::FlowCase;
using test::GlobalArray;
using test::Roll;
using test::RotatingChannel;

class RotatingPoiseuille : public testing::TestWithParam<test::Discretisation> {};

TEST_P(RotatingPoiseuille, KeepsTheLaminarProfileAndThePressureTakesTheForce) {
  const auto& [diffusion, order] = GetParam();
  FlowCase settings;
  settings.cells = {8, 6, 24};
  settings.z_nodes = tanh_nodes(24, 2, 2, true);
  settings.flow.viscosity = 0.02;
  settings.flow.forcing = {ForcingKind::bulk_velocity, 1};
  test::rotation_of(settings.flow).rate = {0, 0.8, 0};
  settings.flow.diffusion = diffusion;
  settings.flow.order = order;
  Flow flow(settings);
  set_laminar(flow.state, flow.stepper, flow.grid, settings.flow);
  const GlobalArray before = flow.read(flow.state.velocity.u);
  flow.advance(20, 0.5 * flow.stepper.time_step_limit(flow.state));
  const GlobalArray after = flow.read(flow.state.velocity.u);
  const GlobalArray p = flow.read(flow.state.p);
  double change = 0;
  for (std::size_t n = 0; n < before.values.size(); ++n)
    change = std::max(change, std::abs(after.values[n] - before.values[n]));
  test::expect_at_most("largest change of u", change, test::round_off(1e-13));

  // dp/dz = 2 Omega_y u: from the bottom to the top the pressure rises by twice the rate times the flux.
  const std::int64_t top = settings.cells[2] - 1;
  const double ends = (flow.grid.dz(0) * after(0, 0, 0) + flow.grid.dz(top) * after(0, 0, top)) / 2;  // half cells
  const double expected = 2 * 0.8 * (2 * 1.0 - ends);
  test::expect_at_most("pressure between the walls, relative error",
                       std::abs((p(3, 2, top) - p(3, 2, 0)) / expected - 1), test::round_off(1e-12));
}

INSTANTIATE_TEST_SUITE_P(Forms, RotatingPoiseuille, testing::ValuesIn(test::discretisations),
                         [](const auto& form) { return test::name_of(form.param); });

/// In plane Couette flow the problem is that of Rayleigh and Benard between solid plates, which begins at Ra = 1707.762
/// with the wavenumber 3.117 over the gap; here Ra = -2 Omega (2 Omega + dU/dz) 2^4 / nu^2.
TEST(Rolls, OfRotatingCouetteFlowBeginAtTheRayleighNumberOfConvection) {
  const double viscosity = std::sqrt(16 * 0.25 / 1707.762);
  const Roll roll = test::nearest_roll({[](double) { return 1.0; }, viscosity, -0.5, 3.117 / 2}, 0.01);
  test::expect_at_most("growth rate where it changes its sign", std::abs(roll.rate), 1e-6);
}

double shear_of_poiseuille(double z) {
  return 2 - 2 * z;  // U = z (2 - z), 1 in the middle
}

/// The bulk velocity is 2/3. Lezius & Johnston (J. Fluid Mech. 77, 153, 1976) give 88.53 for the Reynolds number with
/// bulk velocity and gap, at 2 Omega h / U_b = 0.5 and the wavenumber 2.459 / h; the solver 88.60.
TEST(Rolls, OfRotatingPoiseuilleFlowBeginAtThePublishedReynoldsNumber) {
  const auto rate = [](double reynolds) {
    return test::nearest_roll({shear_of_poiseuille, 4.0 / 3 / reynolds, 1.0 / 3, 2.459}, 0.05, 24).rate;
  };
  double low = 80, high = 100;
  while (high - low > 1e-4) {
    const double middle = (low + high) / 2;
    (rate(middle) < 0 ? low : high) = middle;
  }
  std::printf("  critical Reynolds number %.3f (published: 88.53)\n", low);
  test::expect_at_most("critical Reynolds number, relative to the published", std::abs(low / 88.53 - 1), 1e-3);
}

constexpr double roll_wavenumber = 2.5;

struct Rolling {
  double rate;  ///< 2 Omega_y
  test::Discretisation form;
};

/// The growth rate of the roll, from the energy of w between times 20 and 30.
double measured_rate(const Rolling& rolling, const Roll& roll, std::int64_t nz) {
  FlowCase settings;
  settings.cells = {2, nz / 2, nz};
  settings.length_y = 2 * std::numbers::pi / roll_wavenumber;
  settings.z_nodes = tanh_nodes(nz, 2, 1.4, true);
  settings.flow.viscosity = 1.0 / 300;
  settings.flow.forcing = {ForcingKind::pressure_gradient, 2.0 / 300};
  test::rotation_of(settings.flow).rate = {0, rolling.rate / 2, 0};
  settings.flow.diffusion = rolling.form.diffusion;
  settings.flow.order = rolling.form.order;
  Flow flow(settings);
  const std::vector<double> base = laminar_profile(flow.grid, settings.flow).u;
  const double amplitude = 1e-8;
  const auto b = [](double y) { return roll_wavenumber * y; };
  flow.set_velocity(
      [&](double, double y, double z) {
        const auto above = std::ranges::lower_bound(settings.z_nodes, z) - settings.z_nodes.begin();
        return base[static_cast<std::size_t>(above) - 1] + amplitude * test::interpolate(roll.u, z) * std::cos(b(y));
      },
      [&](double, double y, double z) { return amplitude * test::interpolate(roll.v, z) * std::sin(b(y)); },
      [&](double, double y, double z) { return amplitude * test::interpolate(roll.w, z) * std::cos(b(y)); });
  flow.stepper.project(flow.state);
  const auto rms_w = [&] { return flow.rms_error(flow.state.velocity.w, [](double, double, double) { return 0.0; }); };
  flow.advance(1000, 0.02);
  const double before = rms_w();
  flow.advance(500, 0.02);
  return std::log(rms_w() / before) / 10;
}

class RollGrowth : public testing::TestWithParam<Rolling> {};

TEST_P(RollGrowth, TendsToTheExactRateWithSecondOrder) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "a small roll needs double precision";
  const Roll roll = test::nearest_roll({shear_of_poiseuille, 1.0 / 300, GetParam().rate, roll_wavenumber}, 0.25);
  std::vector<double> sizes, errors;
  for (const std::int64_t nz : {24, 36, 48}) {
    const double rate = measured_rate(GetParam(), roll, nz);
    std::printf("  nz = %d: growth rate %.7f, exact %.7f\n", static_cast<int>(nz), rate, roll.rate);
    sizes.push_back(1.0 / static_cast<double>(nz));
    errors.push_back(std::abs(rate / roll.rate - 1));
  }
  test::expect_order("growth rate", sizes, errors, 1.9);
  test::expect_at_most("relative error of the growth rate", errors.back(), 0.01);
}

INSTANTIATE_TEST_SUITE_P(Forms, RollGrowth,
                         testing::Values(Rolling{0.3, {Diffusion::explicit_, Order::second}},
                                         Rolling{-0.3, {Diffusion::explicit_, Order::fourth}},
                                         Rolling{0.3, {Diffusion::implicit_z, Order::fourth}}),
                         [](const auto& rolling) {
                           return test::name_of(rolling.param.form) + (rolling.param.rate > 0 ? "_top" : "_bottom");
                         });

}  // namespace
}  // namespace sluice
