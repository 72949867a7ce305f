// Mean forces that depend on time, give a power, or act along y: a pulsating laminar channel, for which the exact
// solution is known (Womersley 1955), means that follow a formula, and power held in every substep.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "poisson/tridiagonal/tridiagonal_rows.hpp"
#include "solver/grid/stretching.hpp"
#include "solver/initial.hpp"
#include "solver/statistics/statistics.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using test::Flow;
using test::FlowCase;
using Complex = std::complex<double>;

Formula of_time(const std::string& text) {
  return Formula::parse(text, "t");
}

FlowCase channel(const test::Discretisation& form, std::int64_t nz = 24) {
  FlowCase settings;
  settings.cells = {8, 6, nz};
  settings.length_x = 4;
  settings.length_y = 2;
  settings.z_nodes = tanh_nodes(nz, 2, 1.2, true);
  settings.flow.diffusion = form.diffusion;
  settings.flow.order = form.order;
  return settings;
}

/// A channel of viscosity 1/20 under the force 0.1 + 0.3 cos(pi t): the Womersley number sqrt(omega/nu) is 8.
constexpr double viscosity = 0.05;
constexpr double steady_force = 0.1;
constexpr double amplitude = 0.3;
constexpr double omega = std::numbers::pi;

FlowCase pulsating(const test::Discretisation& form, std::int64_t nz) {
  FlowCase settings = channel(form, nz);
  settings.cells[0] = settings.cells[1] = 4;  // nothing depends on x or y
  settings.flow.viscosity = viscosity;
  settings.flow.forcing = {ForcingKind::pressure_gradient, of_time("0.1 + 0.3*cos(pi*t)")};
  return settings;
}

/// The periodic solution on this grid, which is exact in time: (i omega - nu Lz) u^ = amplitude.
class PeriodicSolution {
 public:
  explicit PeriodicSolution(const Grid& grid)
      : rows_(second_derivative_centers(grid.z_nodes(), WallRow::dirichlet, WallRow::dirichlet)) {
    const std::size_t nz = rows_.diagonal.size();
    pulse_ = solve(rows_, Complex(0, -omega / viscosity), std::vector<Complex>(nz, -amplitude / viscosity));
    steady_ = solve(rows_, std::vector<double>(nz, -steady_force / viscosity));
  }
  double operator()(std::size_t k, double t) const {
    return steady_[k] + (pulse_[k] * std::exp(Complex(0, omega * t))).real();
  }

 private:
  TridiagonalRows rows_;
  std::vector<Complex> pulse_;
  std::vector<double> steady_;
};

/// Womersley's solution between parallel walls.
double womersley(double z, double t) {
  const double s = z - 1;
  const Complex lambda = std::sqrt(Complex(0, omega / viscosity));
  const Complex pulse = amplitude / Complex(0, omega) * (1.0 - std::cosh(lambda * s) / std::cosh(lambda));
  return steady_force / (2 * viscosity) * (1 - s * s) + (pulse * std::exp(Complex(0, omega * t))).real();
}

/// Largest error over one period of a flow that starts on the periodic solution of its grid.
double error_over_a_period(const FlowCase& settings, int steps, const std::function<double(std::size_t, double)>& u) {
  Flow flow(settings);
  const PeriodicSolution on_grid(flow.grid);
  const auto plane = [&](double z) {
    std::size_t k = 0;
    while (std::abs(flow.grid.z_center(static_cast<std::int64_t>(k)) - z) > 1e-12) ++k;
    return k;
  };
  const auto zero = [](double, double, double) { return 0.0; };
  flow.set_velocity([&](double, double, double z) { return on_grid(plane(z), 0); }, zero, zero);
  const double dt = 2 / static_cast<double>(steps);
  EXPECT_LT(dt, flow.stepper.time_step_limit(flow.state));
  double worst = 0;
  for (int n = 0; n < steps; ++n) {
    flow.advance(1, dt);
    const test::GlobalArray values = flow.read(flow.state.velocity.u);
    const std::size_t columns = values.values.size() / static_cast<std::size_t>(settings.cells[2]);
    for (std::size_t k = 0; k < static_cast<std::size_t>(settings.cells[2]); ++k)
      worst = std::max(worst, std::abs(values.values[k * columns] - u(k, flow.state.time)));
  }
  return worst;
}

class Driving : public testing::TestWithParam<test::Discretisation> {
 protected:
  bool is_implicit() const { return GetParam().diffusion != Diffusion::explicit_; }
};

/// The stages weight the force as they weight other tendencies: its error in time has their order.
TEST_P(Driving, PulsatingChannelConvergesInTime) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  std::vector<double> dts, errors;
  for (const int steps : {160, 320, 640}) {
    const FlowCase settings = pulsating(GetParam(), 16);
    const PeriodicSolution exact(Flow(settings).grid);
    dts.push_back(2 / static_cast<double>(steps));
    errors.push_back(error_over_a_period(settings, steps, exact));
  }
  test::expect_order("pulsating channel, " + test::name_of(GetParam()), dts, errors, is_implicit() ? 1.9 : 2.9);
}

/// u in every step, and averages by phase at the times of the samples, of which there are two in each bin: one in its
/// middle and one on its border.
TEST_P(Driving, PulsatingChannelAndPhaseAveragesConvergeToWomersley) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  constexpr std::int64_t bins = 10;
  constexpr int steps = 1600;  // in a period
  std::vector<double> heights, errors_of_u, errors;
  double imbalance = 0;
  for (const std::int64_t nz : {16, 32, 64}) {
    const FlowCase settings = pulsating(GetParam(), nz);
    Flow flow(settings);
    const PeriodicSolution on_grid(flow.grid);
    const auto start = [&](double, double, double z) {
      std::size_t k = 0;
      while (std::abs(flow.grid.z_center(static_cast<std::int64_t>(k)) - z) > 1e-12) ++k;
      return on_grid(k, 0);
    };
    const auto zero = [](double, double, double) { return 0.0; };
    flow.set_velocity(start, zero, zero);
    Statistics statistics(flow.grid, flow.stepper.metrics(), settings.flow, flow.stepper.walls(), flow.state.p.box(),
                          {.phases = {bins, 2}}, flow.comm.world());
    const auto planes = static_cast<std::size_t>(nz);
    std::vector<double> expected(planes * bins), counts(bins);
    EXPECT_LT(2.0 / steps, flow.stepper.time_step_limit(flow.state));
    double error_of_u = 0;
    for (int n = 0; n < steps; n += steps / 20) {
      for (int step = 0; step < steps / 20; ++step) {
        flow.advance(1, 2.0 / steps);
        const test::GlobalArray u = flow.read(flow.state.velocity.u);
        for (std::size_t k = 0; k < planes; ++k) {
          const double exact = womersley(flow.grid.z_center(static_cast<std::int64_t>(k)), flow.state.time);
          error_of_u = std::max(std::abs(u.values[k * (u.values.size() / planes)] - exact), error_of_u);
        }
      }
      statistics.sample(flow.state, 1);
      const int twentieth = 20 * (n + steps / 20) / steps;
      const auto bin = static_cast<std::size_t>((twentieth + 1) / 2 % bins);  // the one above a border
      ++counts[bin];
      for (std::size_t k = 0; k < planes; ++k)
        expected[k * bins + bin] += womersley(flow.grid.z_center(static_cast<std::int64_t>(k)), flow.state.time);
    }
    const auto sums = [&](const std::string& name) {
      const auto found = std::ranges::find(statistics.profiles(), name, &ProfileInfo::name);
      return statistics.open_block().sums.at(static_cast<std::size_t>(found - statistics.profiles().begin()));
    };
    EXPECT_EQ(sums("phase_samples"), counts);
    EXPECT_EQ(sums("phase_forcing"), counts);
    double error = 0;
    const std::vector<double> found = sums("phase_u");
    for (std::size_t n = 0; n < expected.size(); ++n)
      error = std::max(std::abs(found[n] - expected[n]) / counts[n % bins], error);  // NaN if one is
    heights.push_back(1 / static_cast<double>(nz));
    errors_of_u.push_back(error_of_u);
    errors.push_back(error);
    for (const std::string name : {"u", "uu", "tau_xz"}) {
      const std::vector<double> total = sums(name);
      const std::vector<double> by_phase = sums("phase_" + name);
      for (std::size_t k = 0; k < total.size(); ++k) {
        double sum = 0;
        for (std::size_t n = 0; n < bins; ++n) sum += by_phase[k * bins + n];
        imbalance = std::max(imbalance, std::abs(sum - total[k]));
      }
    }
  }
  test::expect_order("error of Womersley's solution, " + test::name_of(GetParam()), heights, errors_of_u, 1.95);
  test::expect_order("phase averages, " + test::name_of(GetParam()), heights, errors, 1.95);
  test::expect_at_most("sum over the phases less the sum over all samples", imbalance, 1e-13);
}

/// Straight lines between t = 0, 0.5, 1.25 and, a period later, 2.
const TimeTable saw{.times = {0, 0.5, 1.25}, .values = {-0.1, 0.5, 0.2}, .period = 2};

/// Response of b' = -r b + G(t) from b = 0 to the table, exact, at time t.
double relaxation(double rate, double t) {
  double b = 0;
  for (double start = 0; start < t;) {
    const double in_period = start - 2 * std::floor(start / 2);
    const double length = in_period < 0.5 ? 0.5 - in_period : in_period < 1.25 ? 1.25 - in_period : 2 - in_period;
    const double end = std::min(t, start + length);
    const double dt = end - start;
    const double slope = (saw.at(start + length) - saw.at(start)) / length;
    // b = slope t/r + (G_0 - slope/r)/r is a solution for G = G_0 + slope t.
    const double offset = (saw.at(start) - slope / rate) / rate;
    b = slope * dt / rate + offset + (b - offset) * std::exp(-rate * dt);
    start = end;
  }
  return b;
}

/// From rest under the force of the table: sum of sines across the channel, each of which relaxes by itself.
double under_saw(double z, double t) {
  double u = 0;
  for (int m = 1; m < 400; m += 2) {
    const double k = m * std::numbers::pi / 2;
    u += 4 / (m * std::numbers::pi) * std::sin(k * z) * relaxation(viscosity * k * k, t);
  }
  return u;
}

/// A force given by a table: the flow from rest against the exact solution for straight lines.
TEST_P(Driving, ForceOfATableConvergesToTheExactSolution) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  std::vector<double> heights, errors;
  for (const std::int64_t nz : {16, 32, 64}) {
    FlowCase settings = pulsating(GetParam(), nz);
    settings.flow.forcing.value = TimeFunction(saw);
    Flow flow(settings);
    double worst = 0;
    for (int part = 0; part < 4; ++part) {
      flow.advance(600, 0.00125);
      const test::GlobalArray values = flow.read(flow.state.velocity.u);
      const std::size_t columns = values.values.size() / static_cast<std::size_t>(nz);
      for (std::size_t k = 0; k < static_cast<std::size_t>(nz); ++k)
        worst = std::max(worst, std::abs(values.values[k * columns] -
                                         under_saw(flow.grid.z_center(static_cast<std::int64_t>(k)), flow.state.time)));
    }
    heights.push_back(1 / static_cast<double>(nz));
    errors.push_back(worst);
  }
  test::expect_order("force of a table, " + test::name_of(GetParam()), heights, errors, 1.95);
}

/// Without walls that drag, u is the integral of the force, which the stages give exactly between the points.
TEST_P(Driving, ForceOfATableIsIntegratedExactly) {
  FlowCase settings = pulsating(GetParam(), 16);
  settings.flow.bottom.kind = settings.flow.top.kind = WallKind::free_slip;
  settings.flow.forcing.value = TimeFunction(saw);
  Flow flow(settings);
  double worst = 0;
  for (int n = 0; n < 40; ++n) {
    flow.advance(1, 0.125);
    const double t = flow.state.time - 2 * std::floor(flow.state.time / 2);
    // Trapezia up to the last point; a period adds 0.1 + 0.2625 + 0.0375.
    const double of_periods = 0.4 * std::floor(flow.state.time / 2);
    const double expected = t <= 0.5    ? (saw.at(0) + saw.at(t)) / 2 * t
                            : t <= 1.25 ? 0.1 + (0.5 + saw.at(t)) / 2 * (t - 0.5)
                                        : 0.3625 + (0.2 + saw.at(t)) / 2 * (t - 1.25);
    worst = std::max(worst, std::abs(flow.stepper.diagnose(flow.state).bulk_velocity - of_periods - expected));
  }
  test::expect_at_most("|u less the integral of the force|", worst, test::round_off(2e-15));
}

/// u and v take turns: driven along y, v is what u is when driven along x.
TEST_P(Driving, AForceAlongYDrivesVAsOneAlongXDrivesU) {
  FlowCase along_x = pulsating(GetParam(), 16);
  along_x.flow.bottom.velocity[0] = 0.2;
  FlowCase along_y = pulsating(GetParam(), 16);
  along_y.flow.bottom.velocity[1] = 0.2;
  std::swap(along_y.flow.forcing, along_y.flow.spanwise_forcing);
  Flow first(along_x), second(along_y);
  set_laminar(first.state, first.stepper, first.grid, along_x.flow);
  set_laminar(second.state, second.stepper, second.grid, along_y.flow);
  for (int n = 0; n < 50; ++n) {
    const MeanForce x = first.stepper.step(first.state, 0.02);
    const MeanForce y = second.stepper.step(second.state, 0.02);
    EXPECT_EQ(x.x, y.y);
    EXPECT_EQ(x.y, 0);
    EXPECT_EQ(y.x, 0);
  }
  const test::GlobalArray u = first.read(first.state.velocity.u);
  const test::GlobalArray v = second.read(second.state.velocity.v);
  double difference = 0, largest = 0;
  for (std::size_t n = 0; n < u.values.size(); ++n) {
    difference = std::max(difference, std::abs(u.values[n] - v.values[n]));
    largest = std::max(largest, std::abs(u.values[n]));
  }
  test::expect_at_least("largest velocity", largest, 0.5);
  test::expect_at_most("u along x less v along y", difference, test::round_off(1e-14));
}

FlowCase turbulent(const test::Discretisation& form) {
  FlowCase settings = channel(form);
  settings.cells = {16, 12, 24};
  settings.flow.viscosity = 1.0 / 300;
  return settings;
}

TEST_P(Driving, BulkVelocitiesFollowTheirFormulas) {
  FlowCase settings = turbulent(GetParam());
  settings.flow.forcing = {ForcingKind::bulk_velocity, of_time("1 + 0.3*sin(4*t)")};
  settings.flow.spanwise_forcing = {ForcingKind::bulk_velocity, of_time("0.2*cos(3*t)")};
  Flow flow(settings);
  set_turbulent(flow.state, flow.stepper, flow.grid, settings.flow, 1, flow.comm.world());
  double worst = 0, least = 1e300, greatest = 0;
  for (int n = 0; n < 40; ++n) {
    const double dt = 0.9 * flow.stepper.time_step_limit(flow.state);
    for (int k = 0; k < 3; ++k) {
      if (k == 2 && n % 2 == 0) {  // in every other step, only the end of the whole step
        flow.stepper.substep(flow.state, dt, k);
        break;
      }
      flow.stepper.substep(flow.state, dt, k);
      const double now = flow.state.time + Rk3::end(k) * dt;
      const double u = volume_mean(flow.state.velocity.u, flow.grid, flow.stepper.metrics(), flow.comm.world());
      const double v = volume_mean(flow.state.velocity.v, flow.grid, flow.stepper.metrics(), flow.comm.world());
      worst = std::max({worst, std::abs(u - (1 + 0.3 * std::sin(4 * now))), std::abs(v - 0.2 * std::cos(3 * now))});
    }
    flow.state.time += dt;
    const Diagnostics d = flow.stepper.diagnose(flow.state);
    ASSERT_EQ(d.further.size(), 1U);
    EXPECT_EQ(d.further[0].name, "bulk_velocity_y");
    worst = std::max({worst, std::abs(d.bulk_velocity - (1 + 0.3 * std::sin(4 * flow.state.time))),
                      std::abs(d.further[0].value - 0.2 * std::cos(3 * flow.state.time))});
    least = std::min(least, d.bulk_velocity);
    greatest = std::max(greatest, d.bulk_velocity);
  }
  test::expect_at_least("range of the bulk velocity", greatest - least, 0.3);
  test::expect_at_most("largest distance of a bulk velocity from its formula", worst, test::round_off(3e-15));
}

TEST_P(Driving, BulkVelocityFollowsATable) {
  FlowCase settings = turbulent(GetParam());
  const TimeTable table{.times = {0, 0.5, 2, 3}, .values = {1, 1.2, 0.7, 0.9}};
  settings.flow.forcing = {ForcingKind::bulk_velocity, TimeFunction(table)};
  Flow flow(settings);
  set_turbulent(flow.state, flow.stepper, flow.grid, settings.flow, 1, flow.comm.world());
  double worst = 0;
  for (int n = 0; n < 40; ++n) {
    flow.stepper.step(flow.state, 0.9 * flow.stepper.time_step_limit(flow.state));
    worst = std::max(worst, std::abs(flow.stepper.diagnose(flow.state).bulk_velocity - table.at(flow.state.time)));
  }
  test::expect_at_least("time reached", flow.state.time, 3);
  test::expect_at_most("largest distance of the bulk velocity from its table", worst, test::round_off(3e-15));
}

/// A wall that moves along y drags the fluid with it unless a force prevents it.
TEST_P(Driving, SpanwiseMeanIsHeldAtZero) {
  for (const bool held : {false, true}) {
    FlowCase settings = turbulent(GetParam());
    settings.flow.forcing = {ForcingKind::bulk_velocity, 1};
    settings.flow.top.velocity[1] = 0.4;
    if (held) settings.flow.spanwise_forcing = {ForcingKind::bulk_velocity, 0};
    Flow flow(settings);
    set_turbulent(flow.state, flow.stepper, flow.grid, settings.flow, 2, flow.comm.world());
    double worst = 0;
    MeanForce force;
    for (int n = 0; n < 40; ++n) {
      force = flow.stepper.step(flow.state, 0.9 * flow.stepper.time_step_limit(flow.state));
      worst = std::max(
          worst, std::abs(volume_mean(flow.state.velocity.v, flow.grid, flow.stepper.metrics(), flow.comm.world())));
    }
    if (held) {
      test::expect_at_most("largest |<v>|, held at 0", worst, test::round_off(2e-16));
      test::expect_at_most("force along y, against the wall's motion", force.y, -1e-4);
    } else {
      test::expect_at_least("largest |<v>|, free", worst, 1e-3);
      EXPECT_EQ(force.y, 0);
    }
  }
}

TEST_P(Driving, PowerIsHeldInEverySubstep) {
  FlowCase settings = turbulent(GetParam());
  settings.flow.forcing = {ForcingKind::power, of_time("0.02*(1 + 0.5*cos(5*t))")};
  const TimeFunction& power = settings.flow.forcing.value;
  Flow flow(settings);
  set_turbulent(flow.state, flow.stepper, flow.grid, settings.flow, 1, flow.comm.world());
  const auto bulk = [&] {
    return volume_mean(flow.state.velocity.u, flow.grid, flow.stepper.metrics(), flow.comm.world());
  };
  double worst = 0, reported = 0, changed = 0;
  for (int n = 0; n < 40; ++n) {
    const double dt = 0.9 * flow.stepper.time_step_limit(flow.state);
    const double t = flow.state.time;
    for (int k = 0; k < 3; ++k) {
      const double starts[] = {t, t + 8 * dt / 15, t + 2 * dt / 3};
      const double before = bulk();
      const MeanForce force = flow.stepper.substep(flow.state, dt, k);
      const auto m = static_cast<std::size_t>(k);
      const double of_now = Rk3::alpha[m] * power.at_time(starts[m]);
      const double of_before = k == 0 ? 0 : Rk3::beta[m] * power.at_time(starts[m - 1]);
      const double expected = (of_now + of_before) / Rk3::gamma(k);
      changed = std::max(changed, std::abs(bulk() - before));
      worst = std::max(worst, std::abs(force.x * (before + bulk()) / 2 / expected - 1));
      reported = std::max(reported, std::abs(force.power / expected - 1));
    }
    flow.state.time += dt;
  }
  test::expect_at_least("largest change of the mean velocity in a substep", changed, 1e-5);
  test::expect_at_most("largest |f (U_before + U_after) / 2P - 1|", worst, test::round_off(1e-14));
  test::expect_at_most("largest error of the power reported", reported, test::round_off(1e-14));
}

/// f U_b = P and, in laminar flow, f = 3 nu U_b.
TEST_P(Driving, ConstantPowerSettlesToTheLaminarFlow) {
  FlowCase settings = channel(GetParam());
  settings.cells[0] = settings.cells[1] = 4;  // nothing depends on x or y
  constexpr double nu = 0.3;
  constexpr double power = 0.9;
  settings.flow.viscosity = nu;
  settings.flow.forcing = {ForcingKind::power, 4 * power};
  Flow flow(settings);
  set_laminar(flow.state, flow.stepper, flow.grid, settings.flow);
  FlowCase other = settings;
  other.flow.forcing.value = power;
  Flow slower(other);
  slower.set_velocity([&](double, double, double z) { return 3 * z * (2 - z); },
                      [](double, double, double) { return 0.0; }, [](double, double, double) { return 0.0; });
  const double dt = 0.9 * slower.stepper.time_step_limit(slower.state);
  MeanForce force;
  while (slower.state.time < 30) force = slower.stepper.step(slower.state, dt);
  const double bulk = slower.stepper.diagnose(slower.state).bulk_velocity;
  test::expect_at_most("|U_b / sqrt(P / 3 nu) - 1|", std::abs(bulk / std::sqrt(power / (3 * nu)) - 1), 3e-3);
  test::expect_at_most("|f U_b / P - 1|", std::abs(force.x * bulk / power - 1), test::round_off(1e-13));
  // The laminar profile of the discrete equations, at four times the power: twice the velocity.
  const double exact = flow.stepper.diagnose(flow.state).bulk_velocity / 2;
  test::expect_at_most("|U_b / discrete U_b - 1|", std::abs(bulk / exact - 1), test::round_off(1e-13));
}

TEST_P(Driving, PowerNeedsAMeanFlow) {
  FlowCase settings = channel(GetParam());
  settings.flow.viscosity = 0.1;
  const auto code_at = [&](double velocity, const Formula& power) {
    settings.flow.forcing = {ForcingKind::power, power};
    Flow flow(settings);
    const auto zero = [](double, double, double) { return 0.0; };
    flow.set_velocity([&](double, double, double) { return velocity; }, zero, zero);
    try {
      flow.advance(1, 0.001);
    } catch (const Error& error) {
      return static_cast<int>(error.code());
    }
    return 0;
  };
  EXPECT_EQ(code_at(1, 0.1), 0);
  EXPECT_EQ(code_at(0, 0.1), static_cast<int>(ExitCode::numerics));
  EXPECT_EQ(code_at(-1, 0.1), static_cast<int>(ExitCode::numerics));
  EXPECT_EQ(code_at(1, -1e4), static_cast<int>(ExitCode::numerics));  // would stop the flow at once
  EXPECT_EQ(code_at(1, of_time("1/t")), static_cast<int>(ExitCode::numerics));
}

/// The turbulent profile has this power: f U_b with f = u_tau^2 / h.
TEST_P(Driving, TurbulentProfileHasThePower) {
  FlowCase settings = turbulent(GetParam());
  settings.flow.forcing = {ForcingKind::power, 0.0042};
  const Grid grid(settings.cells, 4, 2, settings.z_nodes, 0);
  const TurbulentProfile profile = turbulent_profile(grid, settings.flow);
  const double power = profile.friction_velocity * profile.friction_velocity * volume_mean(profile.u, grid);
  test::expect_at_most("|u_tau^2 U_b / P - 1|", std::abs(power / 0.0042 - 1), 1e-13);
}

INSTANTIATE_TEST_SUITE_P(Discretisations, Driving, testing::ValuesIn(test::discretisations),
                         [](const auto& form) { return test::name_of(form.param); });

}  // namespace
}  // namespace sluice
