// Growth of the unstable Tollmien-Schlichting wave of plane Poiseuille flow, Re = 7500, alpha = 1
// (Orr-Sommerfeld: c = 0.249891536 + 0.002234976 i): advection, pressure, viscosity, walls and time stepping
// in one number.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "solver/initial.hpp"
#include "tests/support/flow_case.hpp"
#include "tests/support/orr_sommerfeld.hpp"

namespace sluice {
namespace {

using Complex = std::complex<double>;
using test::EigenMode;
using test::Flow;
using test::FlowCase;

constexpr double reynolds = 7500;
constexpr Complex exact_speed{0.249891536, 0.002234976};
const Complex exact_rate = Complex(0, -1) * exact_speed;  // -i alpha c

FlowCase settings_for(std::int64_t nx, std::int64_t nz, Diffusion diffusion, Order order = Order::second) {
  FlowCase settings;
  settings.cells = {nx, 1, nz};
  settings.length_y = 1;
  settings.flow.viscosity = 1 / reynolds;
  settings.flow.forcing = {ForcingKind::pressure_gradient, 2 / reynolds};  // centre velocity 1
  settings.flow.diffusion = diffusion;
  settings.flow.order = order;
  return settings;
}

EigenMode discrete_mode(const Flow& flow) {
  return test::nearest_mode(flow.grid, laminar_profile(flow.grid, flow.settings.flow).u, flow.settings.flow.viscosity,
                            exact_rate, flow.settings.flow.order);
}

void set_wave(Flow& flow, const EigenMode& mode, double amplitude) {
  const std::vector<double> base = laminar_profile(flow.grid, flow.settings.flow).u;
  set_laminar(flow.state, flow.stepper, flow.grid, flow.settings.flow);
  const auto add = [&](Field& field, const std::vector<Complex>& profile, bool with_base) {
    test::GlobalArray values(flow.grid.cells());
    for (std::int64_t k = 0; k < values.cells[2]; ++k) {
      const auto n = static_cast<std::size_t>(k);
      for (std::int64_t i = 0; i < values.cells[0]; ++i) {
        values(i, 0, k) =
            (with_base ? base[n] : 0) + amplitude * (profile[n] * std::polar(1.0, flow.x(field.location(), i))).real();
      }
    }
    test::scatter(values, field, 0);
  };
  add(flow.state.velocity.u, mode.u, true);
  add(flow.state.velocity.w, mode.w, false);
  flow.stepper.fill_halos(flow.state);
}

/// Volume integral of w^2 / 2.
double wave_energy(const Flow& flow) {
  const double rms = flow.rms_error(flow.state.velocity.w, [](double, double, double) { return 0.0; });
  return rms * rms / 2;
}

/// Slope of log(energy) over time by least squares, between times 10 and 40.
double measured_growth(Flow& flow, double dt) {
  double n = 0, sum_t = 0, sum_e = 0, sum_tt = 0, sum_te = 0;
  while (flow.state.time < 40) {
    flow.advance(10, dt);
    if (flow.state.time < 10) continue;
    const double t = flow.state.time;
    const double e = std::log(wave_energy(flow));
    n += 1;
    sum_t += t;
    sum_e += e;
    sum_tt += t * t;
    sum_te += t * e;
  }
  return (n * sum_te - sum_t * sum_e) / (n * sum_tt - sum_t * sum_t);
}

struct Wave {
  std::int64_t nx, nz;
  Diffusion diffusion;
  Order order;
};

class OrrSommerfeld : public testing::TestWithParam<Wave> {
 protected:
  void SetUp() override {
    if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "a small wave needs double precision";
  }
};

TEST_P(OrrSommerfeld, GrowthRate) {
  const auto [nx, nz, diffusion, order] = GetParam();
  Flow flow(settings_for(nx, nz, diffusion, order));
  const EigenMode mode = discrete_mode(flow);
  set_wave(flow, mode, 1e-5);
  const std::string name = test::name_of(order) + ", nz = " + std::to_string(nz) + ", " + test::name_of(diffusion);
  test::expect_at_most(name + ": divergence of the mode over its amplitude",
                       flow.stepper.diagnose(flow.state).max_divergence / 1e-5, 1e-9);
  const double growth = measured_growth(flow, 0.08);
  const double discrete = 2 * mode.rate.real();
  const double exact = 2 * exact_rate.real();
  std::printf("  %s: growth of the energy %.9f, discrete operator %.9f, exact %.9f\n", name.c_str(), growth, discrete,
              exact);
  test::expect_at_most(name + ": relative to the discrete operator", std::abs(growth / discrete - 1), 0.003);
  if (nz >= 256) test::expect_at_most(name + ": relative to the exact rate", std::abs(growth / exact - 1), 0.03);
}

INSTANTIATE_TEST_SUITE_P(Waves, OrrSommerfeld,
                         testing::Values(Wave{64, 128, Diffusion::explicit_, Order::second},
                                         Wave{64, 128, Diffusion::implicit_z, Order::second},
                                         Wave{64, 256, Diffusion::explicit_, Order::second},
                                         Wave{64, 256, Diffusion::implicit_z, Order::second},
                                         Wave{20, 128, Diffusion::explicit_, Order::fourth},
                                         Wave{20, 256, Diffusion::implicit_z, Order::fourth}),
                         [](const auto& wave) {
                           return test::name_of(wave.param.diffusion) + "_" + std::to_string(wave.param.nz) + "_" +
                                  test::name_of(wave.param.order);
                         });

/// The discrete eigenvalue tends to the exact one with the square of the cell size.
TEST(OrrSommerfeldOperator, IsSecondOrder) {
  std::vector<double> sizes, errors;
  for (const std::int64_t nz : {128, 192, 256, 384}) {
    const Grid grid({nz, 1, nz}, 2 * std::numbers::pi, 1,
                    Flow(settings_for(4, nz, Diffusion::explicit_)).grid.z_nodes());
    const FlowParameters flow = settings_for(nz, nz, Diffusion::explicit_).flow;
    const EigenMode mode = test::nearest_mode(grid, laminar_profile(grid, flow).u, flow.viscosity, exact_rate);
    sizes.push_back(1.0 / static_cast<double>(nz));
    errors.push_back(std::abs(mode.rate - exact_rate));
  }
  test::expect_order("discrete eigenvalue", sizes, errors, 1.9);
}

/// On one grid in z, the discrete eigenvalue tends to that of exact differences along x with the order of the scheme.
TEST(OrrSommerfeldOperator, ConvergesAlongXWithTheOrderOfTheScheme) {
  constexpr std::int64_t nz = 128;
  const FlowParameters flow = settings_for(16, nz, Diffusion::explicit_).flow;
  const auto rate = [&](std::int64_t nx, Order order) {
    const Grid grid({nx, 1, nz}, 2 * std::numbers::pi, 1,
                    Flow(settings_for(4, nz, Diffusion::explicit_)).grid.z_nodes());
    return test::nearest_mode(grid, laminar_profile(grid, flow).u, flow.viscosity, exact_rate, order).rate;
  };
  const Complex limit = rate(4096, Order::fourth);
  for (const Order order : {Order::second, Order::fourth}) {
    std::vector<double> sizes, errors;
    for (const std::int64_t nx : {16, 32, 64}) {
      sizes.push_back(1.0 / static_cast<double>(nx));
      errors.push_back(std::abs(rate(nx, order) - limit));
    }
    test::expect_order("eigenvalue along x, " + test::name_of(order), sizes, errors,
                       order == Order::fourth ? 3.9 : 1.9);
  }
}

}  // namespace
}  // namespace sluice
