// Waves of temperature that laminar channel flow carries along while they decay, between walls of given temperature:
// c = f(z) exp(i k x + rate t) with  rate f = kappa (f'' - k^2 f) - i k U f,  an eigenvalue problem that Chebyshev
// collocation solves to round-off.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>

#include "solver/initial.hpp"
#include "tests/support/chebyshev.hpp"
#include "tests/support/eigenvalue.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using std::numbers::pi;
using test::Flow;
using test::FlowCase;
using Complex = std::complex<double>;

constexpr double kappa = 1.0 / 70;
constexpr double prandtl = 0.7;
constexpr double k = 1;

struct ThermalMode {
  Complex rate;
  std::vector<Complex> f;  ///< at the points of Chebyshev, from z = 2 to 0
};

/// The mode with the rate nearest to `guess` in the flow U = center z (2 - z).
ThermalMode nearest_mode(double center, Complex guess, std::size_t intervals = 40) {
  const test::DenseMatrix d1 = test::chebyshev_derivative(intervals);
  const test::DenseMatrix d2 = d1 * d1;
  test::SquareMatrix<Complex> a(intervals - 1), b(intervals - 1);
  for (std::size_t row = 0; row < a.n; ++row) {
    const double y = test::chebyshev_point(row + 1, intervals);
    for (std::size_t column = 0; column < a.n; ++column) a(row, column) = kappa * d2(row + 1, column + 1);
    a(row, row) -= Complex(kappa * k * k, k * center * (1 - y * y));
    b(row, row) = 1;
  }
  const auto [rate, inside] = test::nearest_eigenvalue(a, b, guess);
  ThermalMode mode{rate, std::vector<Complex>(intervals + 1)};
  std::ranges::copy(inside, mode.f.begin() + 1);
  return mode;
}

/// Where k U_c h^2/kappa is large, the slowest mode is a Gaussian in the middle of the channel and does not feel the
/// walls.
Complex slowest_rate_in_fast_flow(double center) {
  return -Complex(kappa * k * k, k * center) - std::sqrt(k * center * kappa / 2) * Complex(1, -1);
}

TEST(ThermalMode, HasTheRatesOfDiffusionAndOfFastFlow) {
  const double diffusion = -kappa * (k * k + pi * pi / 4);
  const Complex fast = slowest_rate_in_fast_flow(20);
  test::expect_at_most("without a flow, relative error",
                       std::abs(nearest_mode(0, 0.9 * diffusion).rate / diffusion - 1.0), 1e-11);
  test::expect_at_most("in fast flow, relative error", std::abs(nearest_mode(20, 0.99 * fast).rate / fast - 1.0), 1e-9);
}

/// The scalar projected on the mode.
Complex amplitude(const Flow& flow, const ThermalMode& mode) {
  const test::GlobalArray c = flow.read(flow.state.transported.front().field);
  Complex sum = 0;
  for (std::int64_t n = 0; n < c.cells[2]; ++n) {
    const Complex weight = flow.grid.dz(n) * std::conj(test::interpolate(mode.f, flow.grid.z_center(n)));
    for (std::int64_t i = 0; i < c.cells[0]; ++i)
      sum += weight * c(i, 0, n) * std::exp(Complex(0, -k * flow.x(Location::center, i)));
  }
  return sum;
}

/// The rate of the mode between times 2 and 6 on n cells along z. Order 4 has twice as many along x, so that the error
/// of second order, that along z, is the larger one.
Complex measured_rate(const ThermalMode& mode, const test::Discretisation& form, std::int64_t n) {
  FlowCase settings;
  settings.cells = {form.order == Order::fourth ? 2 * n : n, 1, n};
  settings.length_x = 2 * pi / k;
  settings.flow.viscosity = kappa * prandtl;
  settings.flow.forcing = {ForcingKind::pressure_gradient, 2 * settings.flow.viscosity};
  settings.flow.diffusion = form.diffusion;
  settings.flow.order = form.order;
  settings.flow.scalars = {
      {.name = "c", .prandtl = prandtl, .bottom = {ScalarWallKind::value, 0}, .top = {ScalarWallKind::value, 0}}};
  Flow flow(settings);
  set_laminar(flow.state, flow.stepper, flow.grid, settings.flow);
  flow.set(flow.state.transported.front().field, [&](double x, double, double z) {
    return (test::interpolate(mode.f, z) * std::exp(Complex(0, k * x))).real();
  });
  flow.stepper.fill_halos(flow.state);
  const double dt = 2 / static_cast<double>(n);
  flow.advance(static_cast<int>(n), dt);
  const Complex before = amplitude(flow, mode);
  flow.advance(static_cast<int>(2 * n), dt);
  // The logarithm is that of a number near 1, so it has the right phase.
  return mode.rate + std::log(amplitude(flow, mode) / before * std::exp(-4.0 * mode.rate)) / 4.0;
}

class ThermalModeDecay : public testing::TestWithParam<test::Discretisation> {};

TEST_P(ThermalModeDecay, TendsToTheExactRateAndSpeedWithSecondOrder) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  const ThermalMode mode = nearest_mode(1, slowest_rate_in_fast_flow(1));
  std::vector<double> sizes, errors;
  Complex rate;
  for (const std::int64_t n : {24, 36, 54}) {
    rate = measured_rate(mode, GetParam(), n);
    std::printf("  nz = %d: decay rate %.7f, phase speed %.7f; exact %.7f, %.7f\n", static_cast<int>(n), -rate.real(),
                -rate.imag() / k, -mode.rate.real(), -mode.rate.imag() / k);
    sizes.push_back(1.0 / static_cast<double>(n));
    errors.push_back(std::abs(rate / mode.rate - 1.0));
  }
  test::expect_order("complex rate, " + test::name_of(GetParam()), sizes, errors, 1.9);
  test::expect_at_most("relative error of the decay rate", std::abs(rate.real() / mode.rate.real() - 1), 2e-3);
  test::expect_at_most("relative error of the phase speed", std::abs(rate.imag() / mode.rate.imag() - 1), 2e-3);
}

INSTANTIATE_TEST_SUITE_P(Discretisations, ThermalModeDecay, testing::ValuesIn(test::discretisations_and_implicit),
                         [](const auto& form) { return test::name_of(form.param); });

}  // namespace
}  // namespace sluice
