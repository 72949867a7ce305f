// Walls whose temperature or heat flux varies: the exact waves in a resting fluid, Stokes' second problem for heat in a
// gap. Value and flux, bottom and top, uniform in the plane and travelling along it.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <string>

#include "solver/grid/stretching.hpp"
#include "solver/initial.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using test::Flow;
using test::FlowCase;
using Complex = std::complex<double>;

constexpr double frequency = 2;
constexpr double kappa = 0.1;

/// A wall that gives Re exp(i (kx x + ky y + frequency t)); the other one gives 0 of its own kind.
struct Heating {
  const char* name;
  ScalarWallKind kind, other;
  bool top;
  double kx, ky;

  ScalarParameters scalar() const {
    const std::string text =
        "cos(" + std::to_string(kx) + "*x + " + std::to_string(ky) + "*y + " + std::to_string(frequency) + "*t)";
    const ScalarWall heated{kind, Formula::parse(text, "xyt")};
    const ScalarWall resting{other, 0};
    return {.name = name, .prandtl = 0.5, .bottom = top ? resting : heated, .top = top ? heated : resting};
  }

  /// lambda^2 = kx^2 + ky^2 + i frequency/kappa; with d, the distance from the other wall, sinh(lambda d) is 0 there
  /// and cosh(lambda d) has no gradient.
  double exact(double x, double y, double z, double t) const {
    const Complex lambda = std::sqrt(Complex(kx * kx + ky * ky, frequency / kappa));
    const double d = top ? z : 2 - z;
    const bool odd = other == ScalarWallKind::value;
    const Complex profile = odd ? std::sinh(lambda * d) : std::cosh(lambda * d);
    const Complex at_wall = odd ? std::sinh(2.0 * lambda) : std::cosh(2.0 * lambda);
    const Complex slope_at_wall = lambda * (odd ? std::cosh(2.0 * lambda) : std::sinh(2.0 * lambda));
    const Complex scale = kind == ScalarWallKind::value ? at_wall : kappa * slope_at_wall;
    return (std::exp(Complex(0, kx * x + ky * y + frequency * t)) * profile / scale).real();
  }
};

constexpr std::array heatings{Heating{"value_bottom", ScalarWallKind::value, ScalarWallKind::value, false, 0, 0},
                              Heating{"value_top", ScalarWallKind::value, ScalarWallKind::flux, true, 0, 0},
                              Heating{"flux_bottom", ScalarWallKind::flux, ScalarWallKind::value, false, 0, 0},
                              Heating{"flux_top", ScalarWallKind::flux, ScalarWallKind::flux, true, 0, 0},
                              Heating{"wave_of_value", ScalarWallKind::value, ScalarWallKind::flux, false, 1, 2},
                              Heating{"wave_of_flux", ScalarWallKind::flux, ScalarWallKind::value, true, -1, 1}};

FlowCase settings_for(std::array<std::int64_t, 3> cells, const test::Discretisation& form) {
  FlowCase settings;
  settings.cells = cells;
  settings.z_nodes = tanh_nodes(cells[2], 2, 1, true);
  settings.grid_velocity = 0.5;
  settings.flow.viscosity = kappa / 2;
  settings.flow.diffusion = form.diffusion;
  settings.flow.order = form.order;
  for (const Heating& heating : heatings) settings.flow.scalars.push_back(heating.scalar());
  return settings;
}

/// The fluid at time 1, at rest in the laboratory.
std::unique_ptr<Flow> heat(const FlowCase& settings, int steps) {
  auto flow = std::make_unique<Flow>(settings);
  set_zero(flow->state, flow->stepper);
  for (std::size_t n = 0; n < heatings.size(); ++n) {
    flow->set(flow->state.transported[n].field,
              [&](double x, double y, double z) { return heatings[n].exact(x, y, z, 0); });
  }
  flow->stepper.fill_halos(flow->state);
  flow->advance(steps, 1.0 / steps);
  return flow;
}

class PeriodicHeating : public testing::TestWithParam<test::Discretisation> {
 protected:
  void SetUp() override {
    if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  }
  bool is_explicit() const { return GetParam().diffusion == Diffusion::explicit_; }
};

TEST_P(PeriodicHeating, FollowsTheExactSolutionWithSecondOrder) {
  std::vector<double> sizes;
  std::array<std::vector<double>, heatings.size()> errors;
  for (const std::int64_t n : {16, 32}) {
    const auto steps = static_cast<int>(is_explicit() ? n * n / 4 : 2 * n);
    const auto flow = heat(settings_for({n, n, n}, GetParam()), steps);
    sizes.push_back(1 / static_cast<double>(n));
    const double moved = flow->settings.grid_velocity;  // of the grid, at time 1
    for (std::size_t m = 0; m < heatings.size(); ++m) {
      errors[m].push_back(flow->rms_error(flow->state.transported[m].field, [&](double x, double y, double z) {
        return heatings[m].exact(x + moved, y, z, 1);
      }));
    }
    const Diagnostics d = flow->stepper.diagnose(flow->state);
    test::expect_at_most("difference of the flux at the bottom from the given one",
                         std::abs(d.scalars[2].flux_bottom - std::cos(frequency)), 1e-13);
    test::expect_at_most("difference of the flux at the top from the given one",
                         std::abs(d.scalars[3].flux_top - std::cos(frequency)), 1e-13);
  }
  for (std::size_t m = 0; m < heatings.size(); ++m)
    test::expect_order(std::string(heatings[m].name) + ", " + test::name_of(GetParam()), sizes, errors[m], 1.9);
}

TEST_P(PeriodicHeating, IsOfSecondOrderInTime) {
  std::vector<double> dts;
  std::array<std::vector<double>, heatings.size()> changes, coarser;
  for (const int steps : {32, 64, 128}) {
    const auto flow = heat(settings_for({8, 6, 16}, GetParam()), steps);
    if (!coarser[0].empty()) dts.push_back(1.0 / steps);
    for (std::size_t m = 0; m < heatings.size(); ++m) {
      const std::vector<double> c = flow->read(flow->state.transported[m].field).values;
      double sum = 0;
      for (std::size_t n = 0; n < coarser[m].size(); ++n) sum += std::pow(c[n] - coarser[m][n], 2);
      if (!coarser[m].empty()) changes[m].push_back(std::sqrt(sum / static_cast<double>(c.size())));
      coarser[m] = c;
    }
  }
  for (std::size_t m = 0; m < heatings.size(); ++m)
    test::expect_order(std::string(heatings[m].name) + " in time, " + test::name_of(GetParam()), dts, changes[m], 1.9);
}

/// Formulas that do not vary after all.
TEST_P(PeriodicHeating, ThatIsSteadyGivesTheBitsOfConstants) {
  FlowCase settings = settings_for({8, 8, 16}, GetParam());
  const auto walls = [&](const Formula& value, const Formula& flux) {
    settings.flow.scalars = {
        {.name = "a", .bottom = {ScalarWallKind::value, value}, .top = {ScalarWallKind::flux, flux}},
        {.name = "b", .bottom = {ScalarWallKind::flux, flux}, .top = {ScalarWallKind::value, value}}};
  };
  walls(0.7, -0.3);
  Flow constant(settings);
  walls(Formula::parse("0.7 + 0*t", "xyt"), Formula::parse("0*x - 0.3", "xyt"));
  Flow varying(settings);
  for (Flow* flow : {&constant, &varying}) {
    flow->set_random(3);
    set_scalars(flow->state, flow->stepper, flow->grid, flow->settings.flow);
    flow->advance(3, 0.01);
  }
  for (std::size_t n = 0; n < 2; ++n) {
    const std::vector<double> expected = constant.read(constant.state.transported[n].field).values;
    EXPECT_EQ(varying.read(varying.state.transported[n].field).values, expected);
    EXPECT_NE(expected.front(), expected.back());
  }
}

/// The field that a scalar begins with, by default: conduction between the values at time 0.
TEST_P(PeriodicHeating, BeginsWithTheProfileOfConductionAtTimeZero) {
  FlowCase settings = settings_for({8, 6, 16}, GetParam());
  settings.flow.scalars = {{.name = "a",
                            .bottom = {ScalarWallKind::value, Formula::parse("2 + sin(t)", "xyt")},
                            .top = {ScalarWallKind::value, Formula::parse("cos(x + y)", "xyt")}}};
  Flow flow(settings);
  set_scalars(flow.state, flow.stepper, flow.grid, settings.flow);
  const double error = flow.rms_error(flow.state.transported[0].field,
                                      [](double x, double y, double z) { return 2 + (std::cos(x + y) - 2) * z / 2; });
  test::expect_at_most("difference from the linear profiles", error, 1e-15);
}

INSTANTIATE_TEST_SUITE_P(Discretisations, PeriodicHeating, testing::ValuesIn(test::discretisations),
                         [](const auto& form) { return test::name_of(form.param); });

}  // namespace
}  // namespace sluice
