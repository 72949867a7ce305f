// Scalars with known answers: conduction between walls of given value and flux, decay, laminar heat transfer, the
// analogy with the velocity, the mean that a source holds, and conservation of the scalar and of its square.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "solver/grid/stretching.hpp"
#include "solver/initial.hpp"
#include "solver/physics/number_sources.hpp"
#include "solver/physics/source_loops.hpp"
#include "solver/transport/scalar_sweep.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using std::numbers::pi;
using test::Flow;
using test::FlowCase;

ScalarWall value(double at) {
  return {ScalarWallKind::value, at};
}
ScalarWall flux(double at) {
  return {ScalarWallKind::flux, at};
}

FlowCase settings_for(const test::Discretisation& form, std::int64_t nz, const ScalarParameters& scalar) {
  FlowCase settings;
  settings.cells = {8, 8, nz};
  settings.z_nodes = tanh_nodes(nz, 2, 1.5, true);
  settings.flow.viscosity = 0.1;
  settings.flow.diffusion = form.diffusion;
  settings.flow.order = form.order;
  settings.flow.scalars = {scalar};
  return settings;
}

Field& scalar_of(Flow& flow) {
  return flow.state.transported.front().field;
}

/// Steps until the flow is as good as steady: the slowest mode of a channel decays as exp(-kappa (pi/2)^2 t).
void become_steady(Flow& flow, double slowest_diffusivity) {
  const double end = 14 / (slowest_diffusivity * pi * pi / 4);
  // Crank-Nicolson damps fine modes only slowly in the longest steps that it allows.
  const double dt = std::min(0.9 * flow.stepper.time_step_limit(flow.state), end / 400);
  flow.advance(static_cast<int>(std::ceil(end / dt)), dt);
}

class Scalar : public testing::TestWithParam<test::Discretisation> {};

TEST_P(Scalar, StaysALinearProfileBetweenWallsOfGivenValue) {
  Flow flow(settings_for(GetParam(), 24, {.name = "c", .prandtl = 0.7, .bottom = value(3), .top = value(-1)}));
  flow.set_velocity([](double, double, double) { return 0.0; }, [](double, double, double) { return 0.0; },
                    [](double, double, double) { return 0.0; });
  set_scalars(flow.state, flow.stepper, flow.grid, flow.settings.flow);
  flow.advance(20, flow.stepper.time_step_limit(flow.state) / 2);
  const double error = flow.rms_error(scalar_of(flow), [](double, double, double z) { return 3 - 2 * z; });
  test::expect_at_most("conduction, difference from the linear profile", error, test::round_off(1e-13));
  const Diagnostics d = flow.stepper.diagnose(flow.state);
  const double kappa = 0.1 / 0.7;
  test::expect_at_most("flux into the fluid at the bottom", std::abs(d.scalars[0].flux_bottom - 2 * kappa),
                       test::round_off(1e-12));
  test::expect_at_most("flux into the fluid at the top", std::abs(d.scalars[0].flux_top + 2 * kappa),
                       test::round_off(1e-12));
  test::expect_at_most("mean", std::abs(d.scalars[0].mean - 1), test::round_off(1e-13));
}

/// kappa c'' = -s with the flux q at the bottom and c = 1 at the top; the fluxes balance, q + s 2 + q_top = 0.
TEST_P(Scalar, ConductsTheGivenFluxAndTheSource) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  constexpr double kappa = 0.2;
  constexpr double q = 0.3;
  constexpr double s = 0.5;
  const auto exact = [](double, double, double z) { return 1 + q / kappa * (2 - z) + s / (2 * kappa) * (4 - z * z); };
  std::vector<double> sizes;
  std::vector<double> errors;
  for (const std::int64_t nz : {8, 16}) {
    FlowCase settings = settings_for(GetParam(), nz,
                                     {.name = "c",
                                      .prandtl = 0.5,
                                      .bottom = flux(q),
                                      .top = value(1),
                                      .source = TermParameters::with(UniformSource{s})});
    settings.cells[0] = settings.cells[1] = 4;  // nothing depends on x or y
    Flow flow(settings);
    flow.set(scalar_of(flow), exact);
    flow.stepper.fill_halos(flow.state);
    become_steady(flow, kappa / 4);  // one wall without a value: a quarter wave
    sizes.push_back(1.0 / static_cast<double>(nz));
    errors.push_back(flow.rms_error(scalar_of(flow), exact));
    const Diagnostics d = flow.stepper.diagnose(flow.state);
    test::expect_at_most("flux at the bottom", std::abs(d.scalars[0].flux_bottom - q), 1e-12);
    test::expect_at_most("flux at the top", std::abs(d.scalars[0].flux_top + q + 2 * s), 1e-7);
  }
  test::expect_order("conduction with flux and source, " + test::name_of(GetParam()), sizes, errors, 1.9);
}

/// Modes between two walls of given value, or two insulated ones, decay at the exact rate.
TEST_P(Scalar, ModesDecayAtTheExactRate) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  constexpr double kappa = 0.05;
  constexpr double end = 2;
  for (const bool insulated : {false, true}) {
    const double rate = kappa * (pi * pi / 4 + 1);
    const auto exact = [&](double t) {
      return [=](double x, double, double z) {
        return std::exp(-rate * t) * std::cos(x) * (insulated ? std::cos(pi * z / 2) : std::sin(pi * z / 2));
      };
    };
    std::vector<double> sizes;
    std::vector<double> errors;
    for (const std::int64_t n : {16, 32}) {
      const ScalarWall wall = insulated ? flux(0) : value(0);
      FlowCase settings = settings_for(GetParam(), n, {.name = "c", .prandtl = 2, .bottom = wall, .top = wall});
      settings.cells[0] = n;
      settings.cells[1] = 4;  // nothing depends on y
      Flow flow(settings);
      flow.set(scalar_of(flow), exact(0));
      flow.stepper.fill_halos(flow.state);
      const double limit = 0.9 * flow.stepper.time_step_limit(flow.state);
      const int steps = std::max(static_cast<int>(4 * n), static_cast<int>(std::ceil(end / limit)));
      flow.advance(steps, end / steps);
      sizes.push_back(1.0 / static_cast<double>(n));
      errors.push_back(flow.rms_error(scalar_of(flow), exact(end)));
    }
    test::expect_order(std::string("decay, ") + (insulated ? "insulated, " : "") + test::name_of(GetParam()), sizes,
                       errors, 1.9);
  }
}

/// Pr = 1, the same walls and a source equal to the driving force: the scalar is u, operation by operation.
TEST_P(Scalar, IsTheVelocityWhereItsEquationIsTheSame) {
  FlowCase settings = settings_for(GetParam(), 24,
                                   {.name = "c",
                                    .prandtl = 1,
                                    .bottom = value(0),
                                    .top = value(0),
                                    .source = TermParameters::with(UniformSource{0.2})});
  settings.flow.forcing = {ForcingKind::pressure_gradient, 0.2};
  Flow flow(settings);
  set_zero(flow.state, flow.stepper);
  flow.advance(200, 0.9 * flow.stepper.time_step_limit(flow.state));
  const auto u = flow.read(flow.state.velocity.u);
  const auto c = flow.read(scalar_of(flow));
  double largest = 0;
  double worst = 0;
  for (std::size_t n = 0; n < u.values.size(); ++n) {
    largest = std::max(largest, std::abs(u.values[n]));
    worst = std::max(worst, std::abs(u.values[n] - c.values[n]));
  }
  test::expect_at_least("largest velocity", largest, 0.1);
  test::expect_at_most("largest difference of the scalar from u", worst, test::round_off(1e-13));
}

/// Poiseuille flow between walls of uniform flux, less the mean gradient along x: kappa c'' = -g u with c = 0 at the
/// walls and u = 3/2 (1 - (z - 1)^2), so c = 3/2 g/kappa (5/12 - y^2/2 + y^4/12), y = z - 1.
TEST_P(Scalar, FollowsLaminarHeatTransferAtUniformFlux) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  constexpr double kappa = 0.1;
  constexpr double g = 0.4;
  const auto exact = [](double, double, double z) {
    const double y = z - 1;
    return 1.5 * g / kappa * (5.0 / 12 - y * y / 2 + std::pow(y, 4) / 12);
  };
  std::vector<double> sizes;
  std::vector<double> errors;
  for (const std::int64_t nz : {8, 16}) {
    FlowCase settings = settings_for(GetParam(), nz,
                                     {.name = "c",
                                      .prandtl = 1,
                                      .bottom = value(0),
                                      .top = value(0),
                                      .source = TermParameters::with(StreamwiseSource{g})});
    settings.flow.forcing = {ForcingKind::bulk_velocity, 1};
    Flow flow(settings);
    set_laminar(flow.state, flow.stepper, flow.grid, settings.flow);
    flow.set(scalar_of(flow), exact);
    flow.stepper.fill_halos(flow.state);
    become_steady(flow, kappa);
    sizes.push_back(1.0 / static_cast<double>(nz));
    errors.push_back(flow.rms_error(scalar_of(flow), exact));
  }
  test::expect_order("laminar heat transfer, " + test::name_of(GetParam()), sizes, errors, 1.9);
}

TEST_P(Scalar, ASourceHoldsItsMean) {
  FlowCase settings = settings_for(GetParam(), 24,
                                   {.name = "c",
                                    .prandtl = 0.7,
                                    .bottom = value(0),
                                    .top = flux(-0.1),
                                    .source = TermParameters::with(HeldMean{0.6})});
  Flow flow(settings);
  flow.set_random(3);
  set_scalars(flow.state, flow.stepper, flow.grid, settings.flow);
  for (int n = 0; n < 5; ++n) {
    flow.advance(1, flow.stepper.time_step_limit(flow.state) / 2);
    const Diagnostics d = flow.stepper.diagnose(flow.state);
    test::expect_at_most("mean less its target", std::abs(d.scalars[0].mean - 0.6), test::round_off(1e-13));
  }
}

/// Advection by any velocity free of divergence changes neither the volume integral of c nor that of c^2, also on a
/// grid that is stretched and moves.
TEST_P(Scalar, AdvectionConservesItAndItsSquare) {
  FlowCase settings = settings_for(GetParam(), 24, {.name = "c"});
  settings.cells = {20, 15, 24};
  settings.z_nodes = tanh_nodes(24, 2, 2.5, true);
  settings.grid_velocity = 0.4;
  Flow flow(settings);
  flow.set_random(7);
  Field& c = scalar_of(flow);
  flow.set(c, [](double x, double y, double z) { return std::sin(1e4 * (x + 2 * y + 3 * z)); });
  flow.stepper.fill_halos(flow.state);
  Field tendency = make_field(flow.state.transported.front().descriptor, c.box(), GetParam().order);
  Field star = make_field(flow.state.transported.front().descriptor, c.box(), GetParam().order);
  sweep_scalar({.c = std::as_const(c).view(),
                .tendency = tendency.view(),
                .star = star.view(),
                .m = flow.stepper.metrics(),
                .kappa = 0,
                .uniform_source = 0,
                .streamwise_source = 0,
                .alpha_dt = 0,
                .beta_dt = 0,
                .half_kappa_gamma_dt = 0,
                .velocity = flow.state},
               c.local_box(), {GetParam().order, true, false});
  const auto values = flow.read(c);
  const auto rates = flow.read(tendency);
  double change = 0, change_magnitude = 0, change_of_square = 0, square_magnitude = 0;
  for (std::int64_t k = 0; k < 24; ++k) {
    const double dz = flow.grid.dz(k);
    for (std::int64_t j = 0; j < 15; ++j) {
      for (std::int64_t i = 0; i < 20; ++i) {
        const double rate = rates(i, j, k) * dz;
        change += rate;
        change_magnitude += std::abs(rate);
        change_of_square += values(i, j, k) * rate;
        square_magnitude += std::abs(values(i, j, k) * rate);
      }
    }
  }
  test::expect_at_most("change of the integral, relative", std::abs(change) / change_magnitude, test::round_off(1e-14));
  test::expect_at_most("change of the integral of the square, relative", std::abs(change_of_square) / square_magnitude,
                       test::round_off(1e-13));
}

struct Logistic {
  real rate;
  SLUICE_INLINE real operator()(real c) const { return rate * c * (1 - c); }
};

/// R += s(c), c* += alpha dt s(c): over the whole array and, on a CPU, row by row.
TEST(SourceLoop, AddsAFunctionOfTheScalarToEachCell) {
  FlowCase settings = settings_for(test::discretisations[0], 11, {.name = "c"});
  settings.cells = {9, 10, 11};
  Flow flow(settings);
  const FieldDescriptor descriptor = scalar_fields(settings.flow)[0];
  Field tendency = make_field(descriptor, scalar_of(flow).box(), settings.flow.order);
  Field star = make_field(descriptor, scalar_of(flow).box(), settings.flow.order);
  const auto c = [](double x, double y, double z) { return x - y * z; };
  const auto source = [&](double x, double y, double z) { return 0.5 * c(x, y, z) * (1 - c(x, y, z)); };
  flow.set(scalar_of(flow), c);
  const SourceArrays arrays{scalar_of(flow).view(), tendency.view(), star.view(), real(0.25)};
  const FunctionOfScalar<Logistic> loop(Logistic{real(0.5)});
  const auto expect_added = [&](const std::string& name, const auto& add) {
    flow.set(tendency, [](double x, double, double z) { return x - z; });
    flow.set(star, [](double x, double y, double) { return x + y; });
    add();
    const double of_tendency =
        flow.rms_error(tendency, [&](double x, double y, double z) { return x - z + source(x, y, z); });
    const double of_star =
        flow.rms_error(star, [&](double x, double y, double z) { return x + y + source(x, y, z) / 4; });
    test::expect_at_most(name + ": difference of R", of_tendency, test::round_off(1e-14));
    test::expect_at_most(name + ": difference of c*", of_star, test::round_off(1e-14));
  };
  const Box3 box = star.local_box();
  expect_added("array", [&] { loop.add(box, arrays); });
  if (!Momentum::runs_tasks) return;
  expect_added("rows", [&] {
    const RowTask task = loop.row_task(star.box().nx(), arrays);
    for (int k = 0; k < 11; ++k)
      for (int j = 0; j < 10; ++j) task(VelocityRow{.u = {}, .v = {}, .w = {}, .j = j, .k = k});
  });
}

INSTANTIATE_TEST_SUITE_P(Discretisations, Scalar, testing::ValuesIn(test::discretisations_and_implicit),
                         [](const auto& form) { return test::name_of(form.param); });

}  // namespace
}  // namespace sluice
