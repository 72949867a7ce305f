// Flows in a frame that rotates about the wall-normal axis: inertial oscillations and laminar Ekman layers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "solver/grid/stretching.hpp"
#include "solver/initial.hpp"
#include "tests/support/flow_case.hpp"
#include "tests/support/rotation.hpp"

namespace sluice {
namespace {

using test::Flow;
using test::FlowCase;
using test::GlobalArray;
using Complex = std::complex<double>;

class RotationAboutZ : public testing::TestWithParam<test::Discretisation> {
 protected:
  FlowCase settings_for(double rate, WallKind bottom, WallKind top) const {
    FlowCase settings;
    settings.cells = {6, 5, 16};
    settings.flow.viscosity = 0.1;
    settings.flow.bottom.kind = bottom;
    settings.flow.top.kind = top;
    test::rotation_of(settings.flow) = {.rate = {0, 0, rate}, .geostrophic = {0.7, -0.4}};
    settings.flow.diffusion = GetParam().diffusion;
    settings.flow.order = GetParam().order;
    return settings;
  }
};

void set_uniform(Flow& flow, Complex velocity) {
  flow.set_velocity([&](double, double, double) { return velocity.real(); },
                    [&](double, double, double) { return velocity.imag(); },
                    [](double, double, double) { return 0.0; });
}

/// The largest difference of (u, v) from this profile.
double largest_error(const Flow& flow, const std::vector<Complex>& exact) {
  const GlobalArray u = flow.read(flow.state.velocity.u);
  const GlobalArray v = flow.read(flow.state.velocity.v);
  double error = 0;
  for (std::int64_t k = 0; k < u.cells[2]; ++k) {
    for (std::int64_t j = 0; j < u.cells[1]; ++j) {
      for (std::int64_t i = 0; i < u.cells[0]; ++i) {
        const double here = std::abs(Complex(u(i, j, k), v(i, j, k)) - exact[static_cast<std::size_t>(k)]);
        if (!(here <= error)) error = here;
      }
    }
  }
  return error;
}

/// Between free-slip walls a uniform flow circles about the geostrophic velocity, against the frame, twice for each
/// turn of it.
TEST_P(RotationAboutZ, AUniformFlowOscillatesWithThirdOrderInTime) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  constexpr double rate = 0.6, time = 4;
  const Complex geostrophic(0.7, -0.4), start(1.3, 0.2);
  const Complex end = geostrophic + (start - geostrophic) * std::polar(1.0, -2 * rate * time);
  std::vector<double> dts, errors;
  for (const int steps : {16, 32, 64, 128}) {
    Flow flow(settings_for(rate, WallKind::free_slip, WallKind::free_slip));
    set_uniform(flow, start);
    const double dt = time / steps;
    flow.advance(steps, dt);
    dts.push_back(dt);
    errors.push_back(largest_error(flow, std::vector<Complex>(16, end)));
  }
  test::expect_order("velocity after 0.76 periods", dts, errors, 2.95);
}

/// At the limit that rotation sets the oscillation keeps its amplitude; above it grows.
TEST_P(RotationAboutZ, TheTimeStepLimitIsThatOfStability) {
  constexpr double rate = 0.6;
  FlowCase settings = settings_for(rate, WallKind::free_slip, WallKind::free_slip);
  settings.flow.viscosity = 0;
  Flow at_rest(settings);
  const double limit = at_rest.stepper.time_step_limit(at_rest.state);
  test::expect_at_most("dt_lim of a flow at rest, relative error", std::abs(limit * 2 * rate / std::sqrt(3.0) - 1),
                       test::round_off(1e-14));
  const auto amplitude = [&](double dt) {
    Flow flow(settings);
    set_uniform(flow, Complex(0.7, -0.4) + 1e-3);
    flow.advance(100, dt);
    return largest_error(flow, std::vector<Complex>(16, Complex(0.7, -0.4))) / 1e-3;
  };
  test::expect_at_most("amplitude after 100 steps of dt_lim", amplitude(limit), 1 + test::round_off(1e-11));
  test::expect_at_least("amplitude after 100 steps of 1.02 dt_lim", amplitude(1.02 * limit), 2);
}

/// G (1 - cosh(c (H - z))/cosh(c H)), c = (1 + i)/D, D = sqrt(nu/Omega): under a free-slip top at H = 2.
Complex exact_ekman(double z, const FlowParameters& flow) {
  const Complex c = Complex(1, 1) * std::sqrt(test::rotation_of(flow).rate[2] / flow.viscosity);
  const Complex geostrophic(test::rotation_of(flow).geostrophic[0], test::rotation_of(flow).geostrophic[1]);
  return geostrophic * (1.0 - std::cosh(c * (2 - z)) / std::cosh(c * 2.0));
}

std::vector<Complex> discrete_ekman(const Flow& flow) {
  const LaminarProfile profile = laminar_profile(flow.grid, flow.settings.flow);
  std::vector<Complex> result;
  for (std::size_t k = 0; k < profile.u.size(); ++k) result.emplace_back(profile.u[k], profile.v[k]);
  return result;
}

TEST_P(RotationAboutZ, TheLaminarEkmanLayerIsSteady) {
  FlowCase settings = settings_for(0.8, WallKind::no_slip, WallKind::free_slip);
  settings.z_nodes = tanh_nodes(16, 2, 1.6, false);
  settings.flow.bottom.velocity = {0.1, -0.2, 0};
  Flow flow(settings);
  set_laminar(flow.state, flow.stepper, flow.grid, settings.flow);
  flow.advance(50, 0.8 * flow.stepper.time_step_limit(flow.state));
  test::expect_at_most("largest change", largest_error(flow, discrete_ekman(flow)), test::round_off(1e-14));
}

TEST_P(RotationAboutZ, AFlowAtRestBecomesTheEkmanLayer) {
  const FlowCase settings = settings_for(0.8, WallKind::no_slip, WallKind::free_slip);
  Flow flow(settings);
  set_zero(flow.state, flow.stepper);
  const double dt = 0.06;
  EXPECT_LE(dt, flow.stepper.time_step_limit(flow.state));
  flow.advance(8000, dt);  // the slowest mode decays as exp(-nu (pi/4)^2 t)
  test::expect_at_most("largest difference from the steady layer", largest_error(flow, discrete_ekman(flow)),
                       std::max(1e-10, test::round_off(1e-13)));
}

/// A channel that rotates about its wall-normal axis, with a given bulk velocity along x or a pressure gradient.
TEST_P(RotationAboutZ, ADrivenLaminarFlowBetweenTwoWallsIsSteady) {
  for (const ForcingKind kind : {ForcingKind::bulk_velocity, ForcingKind::pressure_gradient}) {
    FlowCase settings = settings_for(0.3, WallKind::no_slip, WallKind::no_slip);
    test::rotation_of(settings.flow).geostrophic = {};
    settings.flow.forcing = {kind, 0.5};
    settings.flow.top.velocity = {0.3, 0.2, 0};
    Flow flow(settings);
    set_laminar(flow.state, flow.stepper, flow.grid, settings.flow);
    const double force = flow.advance(20, 0.8 * flow.stepper.time_step_limit(flow.state));
    test::expect_at_most("largest change", largest_error(flow, discrete_ekman(flow)), test::round_off(1e-14));
    test::expect_at_least("force", std::abs(force), 0.1);
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, RotationAboutZ, testing::ValuesIn(test::discretisations),
                         [](const auto& form) { return test::name_of(form.param); });

TEST(LaminarEkmanLayer, IsSecondOrderInDz) {
  for (const bool stretched : {false, true}) {
    std::vector<double> sizes, errors;
    for (const std::int64_t nz : {64, 128, 256}) {
      FlowCase settings;
      settings.cells = {2, 1, nz};
      if (stretched) settings.z_nodes = tanh_nodes(nz, 2, 2, false);
      settings.flow.viscosity = 0.02;
      settings.flow.top.kind = WallKind::free_slip;
      test::rotation_of(settings.flow) = {.rate = {0, 0, 0.3}, .geostrophic = {0.7, -0.4}};
      const Flow flow(settings);
      const std::vector<Complex> discrete = discrete_ekman(flow);
      double error = 0;
      for (std::int64_t k = 0; k < nz; ++k)
        error = std::max(error, std::abs(discrete[static_cast<std::size_t>(k)] -
                                         exact_ekman(flow.z(Location::center, k), settings.flow)));
      sizes.push_back(1.0 / static_cast<double>(nz));
      errors.push_back(error);
    }
    test::expect_order(stretched ? "stretched grid" : "uniform grid", sizes, errors, 1.9);
  }
}

}  // namespace
}  // namespace sluice
