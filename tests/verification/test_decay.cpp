// Decaying exact solutions: the Stokes eigenmode between no-slip walls, and Taylor-Green vortices in (x, y)
// and, between free-slip walls, in (x, z). Second order in space.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "solver/grid/stretching.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using std::cos, std::sin;
using std::numbers::pi;
using test::Flow;
using test::FlowCase;

double zero(double, double, double) {
  return 0;
}

/// Steps to time t with about this time step; every step of the same length.
void advance_to(Flow& flow, double t, double dt) {
  const double length = t - flow.state.time;
  const int steps = static_cast<int>(std::ceil(length / dt));
  flow.advance(steps, length / steps);
}

class Decay : public testing::TestWithParam<Diffusion> {
 protected:
  void SetUp() override {
    if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  }
};

/// u = f'(s) cos x, w = f(s) sin x with f = cos(p s)/cos p - cosh s/cosh 1, s from the centre: decays as
/// exp(sigma t), sigma = -(p^2 + 1) nu/h^2 with p tan p = -tanh 1.
struct StokesMode {
  static constexpr double sigma = -9.3137398539;
  double p = std::sqrt(-sigma - 1);
  double amplitude = 1e-5;  // so small that advection does not matter
  double w(double x, double s) const {
    return amplitude * sin(x) * (cos(p * s) / cos(p) - std::cosh(s) / std::cosh(1));
  }
  double u(double x, double s) const {
    return amplitude * cos(x) * (-p * sin(p * s) / cos(p) - std::sinh(s) / std::cosh(1));
  }
};

struct StokesErrors {
  double rate, velocity;
};

StokesErrors stokes_errors(Diffusion diffusion, std::int64_t n) {
  FlowCase settings;
  settings.cells = {n, 1, n};
  settings.flow.viscosity = 1;
  settings.flow.diffusion = diffusion;
  Flow flow(settings);
  const StokesMode mode;
  flow.set_velocity([&](double x, double, double z) { return mode.u(x, z - 1); }, zero,
                    [&](double x, double, double z) { return mode.w(x, z - 1); });
  flow.stepper.project(flow.state);
  const double dt = diffusion == Diffusion::explicit_ ? 0.9 * flow.stepper.time_step_limit(flow.state)
                                                      : 0.04 / static_cast<double>(n);
  advance_to(flow, 0.1, dt);
  const double before = flow.stepper.diagnose(flow.state).kinetic_energy;
  advance_to(flow, 0.3, dt);
  const double after = flow.stepper.diagnose(flow.state).kinetic_energy;
  const double rate = std::log(after / before) / 0.4;
  const double decay = std::exp(StokesMode::sigma * flow.state.time);
  const auto error = [&](const Field& f, auto&& exact) {
    return flow.rms_error(f, [&](double x, double, double z) { return exact(x, z - 1) * decay; }) /
           (mode.amplitude * decay);
  };
  const double error_u = error(flow.state.velocity.u, [&](double x, double s) { return mode.u(x, s); });
  const double error_w = error(flow.state.velocity.w, [&](double x, double s) { return mode.w(x, s); });
  return {std::abs(rate - StokesMode::sigma), std::hypot(error_u, error_w)};
}

TEST_P(Decay, StokesEigenmode) {
  std::vector<double> spacings, rates, velocities;
  for (const std::int64_t n : {16, 32, 64, 96}) {
    const StokesErrors errors = stokes_errors(GetParam(), n);
    spacings.push_back(2.0 / static_cast<double>(n));
    rates.push_back(errors.rate);
    velocities.push_back(errors.velocity);
  }
  const std::string name = "Stokes mode, " + test::name_of(GetParam());
  test::expect_order(name + ", decay rate", spacings, rates, 1.9);
  test::expect_order(name + ", velocity", spacings, velocities, 1.9);
  test::expect_at_most(name + ", error of the rate at 96 x 96, relative", rates.back() / -StokesMode::sigma, 2e-3);
}

constexpr double nu_tg = 0.05;

/// Advances to t = 1.5, where viscosity and advection have both acted. Returns the time that p belongs to:
/// the middle of the last substep, whose length is dt/3.
double run_taylor_green(Flow& flow, std::int64_t n) {
  const auto steps = static_cast<int>(5 * n);
  const double dt = 1.5 / steps;
  EXPECT_LE(dt, flow.stepper.time_step_limit(flow.state));
  flow.advance(steps, dt);
  return flow.state.time - dt / 6;
}

TEST_P(Decay, TaylorGreenInXy) {
  std::vector<double> spacings, velocities, pressures;
  for (const std::int64_t n : {16, 32, 64}) {
    FlowCase settings;
    settings.cells = {n, 3 * n / 2, 4};  // unequal spacings: with equal ones the discrete vortex is exact in space
    settings.flow.viscosity = nu_tg;
    settings.flow.diffusion = GetParam();
    settings.flow.order = Order::second;
    settings.flow.bottom.kind = settings.flow.top.kind = WallKind::free_slip;
    Flow flow(settings);
    const auto u = [](double x, double y) { return sin(x) * cos(y); };
    const auto v = [](double x, double y) { return -cos(x) * sin(y); };
    flow.set_velocity([&](double x, double y, double) { return u(x, y); },
                      [&](double x, double y, double) { return v(x, y); }, zero);
    flow.stepper.project(flow.state);
    const double pressure_time = run_taylor_green(flow, n);
    const double decay = std::exp(-2 * nu_tg * flow.state.time);
    const double error_u =
        flow.rms_error(flow.state.velocity.u, [&](double x, double y, double) { return u(x, y) * decay; });
    const double error_v =
        flow.rms_error(flow.state.velocity.v, [&](double x, double y, double) { return v(x, y) * decay; });
    const double p_decay = std::exp(-4 * nu_tg * pressure_time);
    spacings.push_back(1.0 / static_cast<double>(n));
    velocities.push_back(std::hypot(error_u, error_v));
    pressures.push_back(flow.rms_error(
        flow.state.p, [&](double x, double y, double) { return (cos(2 * x) + cos(2 * y)) / 4 * p_decay; }));
    const double substeps = 3 * static_cast<double>(flow.state.step);
    test::expect_at_most("rms of w in a flow in (x, y), a substep",
                         flow.rms_error(flow.state.velocity.w, zero) / substeps, real_epsilon);
  }
  const std::string name = "Taylor-Green in (x, y), " + test::name_of(GetParam());
  test::expect_order(name + ", velocity", spacings, velocities, 1.9);
  test::expect_order(name + ", pressure", spacings, pressures, 1.9);
}

TEST_P(Decay, TaylorGreenInXzBetweenFreeSlipWalls) {
  std::vector<double> spacings, velocities, pressures;
  for (const std::int64_t n : {16, 32, 64}) {
    FlowCase settings;
    settings.cells = {2 * n, 1, n};
    settings.z_nodes = tanh_nodes(n, pi, 1.2, true);
    settings.flow.viscosity = nu_tg;
    settings.flow.diffusion = GetParam();
    settings.flow.order = Order::second;
    settings.flow.bottom.kind = settings.flow.top.kind = WallKind::free_slip;
    Flow flow(settings);
    const auto u = [](double x, double z) { return sin(x) * cos(z); };
    const auto w = [](double x, double z) { return -cos(x) * sin(z); };
    flow.set_velocity([&](double x, double, double z) { return u(x, z); }, zero,
                      [&](double x, double, double z) { return w(x, z); });
    flow.stepper.project(flow.state);
    const double pressure_time = run_taylor_green(flow, n);
    const double decay = std::exp(-2 * nu_tg * flow.state.time);
    const double error_u =
        flow.rms_error(flow.state.velocity.u, [&](double x, double, double z) { return u(x, z) * decay; });
    const double error_w =
        flow.rms_error(flow.state.velocity.w, [&](double x, double, double z) { return w(x, z) * decay; });
    const double p_decay = std::exp(-4 * nu_tg * pressure_time);
    spacings.push_back(1.0 / static_cast<double>(n));
    velocities.push_back(std::hypot(error_u, error_w));
    pressures.push_back(flow.rms_error(
        flow.state.p, [&](double x, double, double z) { return (cos(2 * x) + cos(2 * z)) / 4 * p_decay; }));
  }
  const std::string name = "Taylor-Green in (x, z), " + test::name_of(GetParam());
  test::expect_order(name + ", velocity", spacings, velocities, 1.9);
  test::expect_order(name + ", pressure", spacings, pressures, 1.9);
}

INSTANTIATE_TEST_SUITE_P(Diffusions, Decay,
                         testing::Values(Diffusion::explicit_, Diffusion::implicit_z, Diffusion::implicit),
                         [](const auto& diffusion) { return test::name_of(diffusion.param); });

}  // namespace
}  // namespace sluice
