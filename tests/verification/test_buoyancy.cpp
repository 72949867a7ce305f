// Buoyancy: its work is what the flux of the scalar takes from the potential energy; laminar mixed convection in a
// vertical channel; the frequency of internal waves in a stratified box.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "solver/grid/stretching.hpp"
#include "solver/initial.hpp"
#include "solver/physics/body_force.hpp"
#include "solver/transport/scalar_sweep.hpp"
#include "tests/support/buoyancy.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using std::numbers::pi;
using test::Flow;
using test::FlowCase;

FlowCase buoyant(const test::Discretisation& form, double coefficient, const std::array<double, 3>& gravity) {
  FlowCase settings;
  settings.flow.viscosity = 0.1;
  settings.flow.diffusion = form.diffusion;
  settings.flow.order = form.order;
  settings.flow.scalars = {{.name = "c"}};
  test::buoyancy_of(settings.flow) = {.scalar = "c", .coefficient = coefficient, .reference = 0, .direction = gravity};
  return settings;
}

Field& scalar_of(Flow& flow) {
  return flow.state.transported.front().field;
}

class Buoyancy : public testing::TestWithParam<test::Discretisation> {};

/// d/dt sum(-z c) by advection is minus the work of the force on w, sum(w F), for any flow free of divergence.
TEST_P(Buoyancy, WorkIsTakenFromThePotentialEnergy) {
  FlowCase settings = buoyant(GetParam(), 1, {0, 0, -1});
  settings.cells = {20, 15, 24};
  settings.z_nodes = tanh_nodes(24, 2, 2.5, true);
  Flow flow(settings);
  flow.set_random(7);
  Field& c = scalar_of(flow);
  flow.set(c, [](double x, double y, double z) { return std::sin(1e4 * (x + 2 * y + 3 * z)); });
  flow.stepper.fill_halos(flow.state);
  const Order order = GetParam().order;
  VectorField force(flow.state.p.box(), order);
  VectorField star(flow.state.p.box(), order);
  BodyForces(flow.stepper.metrics(), settings.flow).add(flow.state, flow.state.transported, 0, force, star);
  Field tendency = make_field(flow.state.transported.front().descriptor, c.box(), order);
  Field scalar_star = make_field(flow.state.transported.front().descriptor, c.box(), order);
  const VectorField& velocity = flow.state.velocity;
  sweep_scalar({.c = std::as_const(c).view(),
                .tendency = tendency.view(),
                .star = scalar_star.view(),
                .m = flow.stepper.metrics(),
                .kappa = 0,
                .uniform_source = 0,
                .streamwise_source = 0,
                .alpha_dt = 0,
                .beta_dt = 0,
                .half_kappa_gamma_dt = 0,
                .velocity = flow.state},
               c.local_box(), {order, true, false});
  const auto rates = flow.read(tendency);
  const auto w = flow.read(velocity.w);
  const auto forces = flow.read(force.w);
  double potential = 0, work = 0, magnitude = 0;
  for (std::int64_t k = 0; k < 24; ++k) {
    for (std::int64_t j = 0; j < 15; ++j) {
      for (std::int64_t i = 0; i < 20; ++i) {
        potential -= flow.grid.z_center(k) * rates(i, j, k) * flow.grid.dz(k);
        const double of_w = w(i, j, k) * forces(i, j, k) * flow.height(Location::z_face, k);
        work += of_w;
        magnitude += std::abs(of_w);
      }
    }
  }
  test::expect_at_least("work of buoyancy, relative", std::abs(work) / magnitude, 1e-4);
  test::expect_at_most("potential energy and work together, relative", std::abs(potential + work) / magnitude,
                       test::round_off(1e-13));
}

/// Vertical channel: gravity against x, a hot and a cold wall, no mean pressure force: nu u'' = -B c with c = 1 - z, so
/// u = B/(6 nu) (y^3 - y), y = z - 1, which is antisymmetric; with a force f, f/(2 nu) (1 - y^2) is added.
TEST_P(Buoyancy, DrivesMixedConvectionInAVerticalChannel) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  constexpr double nu = 0.1;
  constexpr double b = 0.5;
  constexpr double f = 0.05;
  const auto exact = [](double, double, double z) {
    const double y = z - 1;
    return b / (6 * nu) * (y * y * y - y) + f / (2 * nu) * (1 - y * y);
  };
  std::vector<double> sizes;
  std::vector<double> errors;
  for (const std::int64_t nz : {8, 16}) {
    FlowCase settings = buoyant(GetParam(), b, {-1, 0, 0});
    settings.cells = {8, 8, nz};
    settings.z_nodes = tanh_nodes(nz, 2, 1.2, true);
    settings.flow.forcing = {ForcingKind::pressure_gradient, f};
    settings.flow.scalars = {
        {.name = "c", .prandtl = 0.7, .bottom = {ScalarWallKind::value, 1}, .top = {ScalarWallKind::value, -1}}};
    Flow flow(settings);
    flow.set_velocity(
        exact, [](double, double, double) { return 0.0; }, [](double, double, double) { return 0.0; });
    set_scalars(flow.state, flow.stepper, flow.grid, settings.flow);
    const double dt = 0.9 * flow.stepper.time_step_limit(flow.state);
    flow.advance(static_cast<int>(20 / (nu * pi * pi / 4) / dt), dt);
    sizes.push_back(1.0 / static_cast<double>(nz));
    errors.push_back(flow.rms_error(flow.state.velocity.u, exact));
  }
  test::expect_order("mixed convection, " + test::name_of(GetParam()), sizes, errors, 1.9);
}

/// A standing internal wave in a stratified box with free-slip walls, where c is given: w = A sin(pi z/2) cos x cos(w
/// t) with w^2 = N^2 kx^2/(kx^2 + kz^2), N^2 = B dc/dz. Viscosity and diffusivity are equal, so all decays as exp(-nu
/// (kx^2 + kz^2) t). The amplitude is small.
TEST_P(Buoyancy, InternalWavesHaveTheirFrequency) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  constexpr double nu = 1e-4;
  constexpr double n_squared = 4;  // B = 4, dc/dz = 1
  constexpr double amplitude = 1e-6;
  const double kx = 1;
  const double kz = pi / 2;
  const double k_squared = kx * kx + kz * kz;
  const double frequency = std::sqrt(n_squared * kx * kx / k_squared);
  const double end = 2 * pi / frequency / 8 * 5;
  std::vector<double> sizes;
  std::vector<double> errors;
  for (const std::int64_t n : {16, 32}) {
    FlowCase settings = buoyant(GetParam(), n_squared, {0, 0, -1});
    settings.cells = {n, 8, n};
    settings.flow.viscosity = nu;
    settings.flow.bottom.kind = settings.flow.top.kind = WallKind::free_slip;
    settings.flow.scalars = {
        {.name = "c", .prandtl = 1, .bottom = {ScalarWallKind::value, -1}, .top = {ScalarWallKind::value, 1}}};
    Flow flow(settings);
    flow.set_velocity(
        [&](double x, double, double z) { return -amplitude * kz / kx * std::cos(kz * z) * std::sin(kx * x); },
        [](double, double, double) { return 0.0; },
        [&](double x, double, double z) { return amplitude * std::sin(kz * z) * std::cos(kx * x); });
    flow.set(scalar_of(flow), [](double, double, double z) { return z - 1; });
    flow.stepper.project(flow.state);
    const int steps = static_cast<int>(n) * 8;
    flow.advance(steps, end / steps);
    const auto exact = [&](double x, double, double z) {
      return amplitude * std::exp(-nu * k_squared * end) * std::cos(frequency * end) * std::sin(kz * z) *
             std::cos(kx * x);
    };
    sizes.push_back(1.0 / static_cast<double>(n));
    errors.push_back(flow.rms_error(flow.state.velocity.w, exact) / amplitude);
  }
  test::expect_at_most("error of w, relative to its amplitude", errors.back(), 0.01);
  test::expect_order("internal wave, " + test::name_of(GetParam()), sizes, errors, 1.9);
}

INSTANTIATE_TEST_SUITE_P(Discretisations, Buoyancy, testing::ValuesIn(test::discretisations_and_implicit),
                         [](const auto& form) { return test::name_of(form.param); });

}  // namespace
}  // namespace sluice
