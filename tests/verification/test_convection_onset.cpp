// The onset of convection between solid plates, of Rayleigh and Benard: where the growth rate of small rolls crosses 0,
// on three grids, and its limit.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "solver/initial.hpp"
#include "tests/support/buoyancy.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using std::numbers::pi;
using test::Flow;
using test::FlowCase;

// With the gap, here 2; for example Chandrasekhar, Hydrodynamic and Hydromagnetic Stability (1961), section 15.
constexpr double critical_rayleigh = 1707.762;
constexpr double critical_wavenumber = 3.117;

/// Fluid of viscosity 1 and diffusivity 1 in a box of one wavelength, with the temperatures 1/2 below and -1/2 above.
FlowCase settings_for(const test::Discretisation& form, std::int64_t n, double rayleigh) {
  FlowCase settings;
  settings.cells = {n, 1, n};
  settings.length_x = 2 * pi / (critical_wavenumber / 2);
  settings.length_y = settings.length_x;
  settings.flow.viscosity = 1;
  settings.flow.diffusion = form.diffusion;
  settings.flow.order = form.order;
  settings.flow.scalars = {{.name = "c", .bottom = {ScalarWallKind::value, 0.5}, .top = {ScalarWallKind::value, -0.5}}};
  test::buoyancy_of(settings.flow) = {.scalar = "c", .coefficient = rayleigh / 8};
  return settings;
}

/// The growth rate of rolls that begin with a guess of their form, between the times 1.5 and 2. The slowest other mode
/// that the guess contains, the rolls with the opposite temperature, decays as about exp(-10 t).
double growth_rate(const FlowCase& settings) {
  constexpr double amplitude = 1e-6;
  Flow flow(settings);
  set_zero(flow.state, flow.stepper);
  set_scalars(flow.state, flow.stepper, flow.grid, settings.flow);
  const double k = 2 * pi / settings.length_x;
  flow.set(flow.state.velocity.w,
           [&](double x, double, double z) { return amplitude * std::pow(std::sin(pi * z / 2), 2) * std::cos(k * x); });
  flow.stepper.project(flow.state);
  const int steps = static_cast<int>(std::ceil(0.5 / (0.9 * flow.stepper.time_step_limit(flow.state))));
  const auto rms_w = [&] { return flow.rms_error(flow.state.velocity.w, [](double, double, double) { return 0.0; }); };
  flow.advance(3 * steps, 0.5 / steps);
  const double before = rms_w();
  flow.advance(steps, 0.5 / steps);
  return std::log(rms_w() / before) / 0.5;
}

/// Where the parabola through three growth rates crosses 0.
double onset_on(const test::Discretisation& form, std::int64_t n) {
  constexpr std::array rayleigh{0.96 * critical_rayleigh, critical_rayleigh, 1.04 * critical_rayleigh};
  std::array<double, 3> rate;
  for (std::size_t m = 0; m < 3; ++m) rate[m] = growth_rate(settings_for(form, n, rayleigh[m]));
  EXPECT_LT(rate[0], 0);
  EXPECT_GT(rate[2], 0);
  double onset = 0;  // Lagrange's formula for the Rayleigh number as a function of the rate
  for (std::size_t m = 0; m < 3; ++m) {
    double term = rayleigh[m];
    for (std::size_t other = 0; other < 3; ++other) {
      if (other != m) term *= rate[other] / (rate[other] - rate[m]);
    }
    onset += term;
  }
  std::printf("  %d x %d cells: growth rates %.5f %.5f %.5f, onset at Ra = %.3f\n", static_cast<int>(n),
              static_cast<int>(n), rate[0], rate[1], rate[2], onset);
  return onset;
}

class ConvectionOnset : public testing::TestWithParam<test::Discretisation> {};

TEST_P(ConvectionOnset, IsAtTheCriticalRayleighNumber) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "a small perturbation needs double precision";
  std::vector<double> sizes, onsets, errors;
  for (const std::int64_t n : {16, 24, 32}) {
    sizes.push_back(1.0 / static_cast<double>(n));
    onsets.push_back(onset_on(GetParam(), n));
    errors.push_back(std::abs(onsets.back() / critical_rayleigh - 1));
  }
  test::expect_order("onset, " + test::name_of(GetParam()), sizes, errors, 1.9);
  const double ratio = std::pow(sizes[1] / sizes[2], 2);
  const double limit = onsets[2] + (onsets[2] - onsets[1]) / (ratio - 1);
  std::printf("  extrapolated from the last two grids: Ra = %.3f\n", limit);
  test::expect_at_most("extrapolated onset, relative error", std::abs(limit / critical_rayleigh - 1), 5e-4);
}

INSTANTIATE_TEST_SUITE_P(Discretisations, ConvectionOnset, testing::ValuesIn(test::discretisations),
                         [](const auto& form) { return test::name_of(form.param); });

}  // namespace
}  // namespace sluice
