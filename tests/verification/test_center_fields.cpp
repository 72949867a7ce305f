// Quantities at cell centres against their exact values: a linear shear to round-off, smooth flows with the order of
// the scheme. lambda2 is compared with eigenvalues found by Jacobi rotations.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include "solver/derived/center_fields.hpp"
#include "solver/grid/stretching.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using test::Flow;
using test::FlowCase;
using Gradient = std::array<std::array<double, 3>, 3>;
using Fields = std::vector<std::vector<double>>;

CellChoice cells_of(const Flow& flow, std::array<int, 3> stride = {1, 1, 1}) {
  std::array<std::vector<int>, 3> indices;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (int n = 0; n < flow.settings.cells[axis]; n += stride[axis]) indices[axis].push_back(n);
  }
  return CellChoice(indices);
}

CenterFields fields_of(const Flow& flow) {
  return {flow.grid,          flow.stepper.metrics(), flow.settings.flow.order, flow.stepper.walls(),
          flow.state.p.box(), flow.comm.world()};
}

Fields computed(const Flow& flow, const std::string& name, std::array<int, 3> stride = {1, 1, 1}) {
  return fields_of(flow).compute<double>(flow.state, center_quantity(name, flow.settings.flow), cells_of(flow, stride));
}

/// Root mean square over all cells of the difference from a function of the centre, over that of the function.
double error_of(const Flow& flow, const std::vector<double>& values, const test::PointFunction& exact) {
  double error = 0;
  double size = 0;
  std::size_t n = 0;
  for (std::int64_t k = 0; k < flow.settings.cells[2]; ++k) {
    for (std::int64_t j = 0; j < flow.settings.cells[1]; ++j) {
      for (std::int64_t i = 0; i < flow.settings.cells[0]; ++i) {
        const double value =
            exact(flow.x(Location::center, i), flow.y(Location::center, j), flow.z(Location::center, k));
        error += std::pow(values[n++] - value, 2);
        size += value * value;
      }
    }
  }
  return std::sqrt(error / size);
}

double second_invariant(const Gradient& g) {
  double trace = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) trace += g[a][b] * g[b][a];
  }
  return -trace / 2;
}

/// The second eigenvalue of S S + R R, S and R the symmetric and the antisymmetric part.
double lambda2(const Gradient& g) {
  Gradient a{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 3; ++k) {
        a[i][j] += (g[i][k] + g[k][i]) * (g[k][j] + g[j][k]) / 4 + (g[i][k] - g[k][i]) * (g[k][j] - g[j][k]) / 4;
      }
    }
  }
  for (int sweep = 0; sweep < 20; ++sweep) {
    for (const auto& [p, q] : {std::pair(0U, 1U), std::pair(0U, 2U), std::pair(1U, 2U)}) {
      if (std::abs(a[p][q]) < 1e-300) continue;
      const double angle = std::atan2(2 * a[p][q], a[q][q] - a[p][p]) / 2;
      const double c = std::cos(angle);
      const double s = std::sin(angle);
      for (std::size_t n = 0; n < 3; ++n) {
        const double at_p = a[n][p];
        a[n][p] = c * at_p - s * a[n][q];
        a[n][q] = s * at_p + c * a[n][q];
      }
      for (std::size_t n = 0; n < 3; ++n) {
        const double at_p = a[p][n];
        a[p][n] = c * at_p - s * a[q][n];
        a[q][n] = s * at_p + c * a[q][n];
      }
    }
  }
  std::array<double, 3> values{a[0][0], a[1][1], a[2][2]};
  std::ranges::sort(values);
  return values[1];
}

class BothOrders : public testing::TestWithParam<Order> {};

TEST_P(BothOrders, ALinearShearIsExact) {
  FlowCase settings;
  settings.cells = {8, 6, 24};
  settings.z_nodes = tanh_nodes(24, 2, 2.2, true);
  settings.flow.order = GetParam();
  settings.flow.bottom = {WallKind::no_slip, -1, -0.5};
  settings.flow.top = {WallKind::no_slip, 1, 0.5};
  Flow flow(settings);
  const auto zero = [](double, double, double) { return 0.0; };
  flow.set_velocity([](double, double, double z) { return z - 1; },
                    [](double, double, double z) { return (z - 1) / 2; }, zero);
  const Fields velocity = computed(flow, "velocity");
  const Fields vorticity = computed(flow, "vorticity");
  const Fields q = computed(flow, "q");
  const Fields middle = computed(flow, "lambda2");
  test::expect_at_most("u", error_of(flow, velocity[0], [](double, double, double z) { return z - 1; }),
                       test::round_off(1e-14));
  test::expect_at_most("omega_x", error_of(flow, vorticity[0], [](double, double, double) { return -0.5; }),
                       test::round_off(1e-12));
  test::expect_at_most("omega_y", error_of(flow, vorticity[1], [](double, double, double) { return 1.0; }),
                       test::round_off(1e-12));
  for (std::size_t n = 0; n < q[0].size(); ++n) {
    ASSERT_NEAR(vorticity[2][n], 0, test::round_off(1e-12));
    ASSERT_NEAR(velocity[2][n], 0, test::round_off(1e-14));
    ASSERT_NEAR(q[0][n], 0, test::round_off(1e-12));
    ASSERT_NEAR(middle[0][n], 0, test::round_off(1e-12));
  }
}

/// A flow with a known gradient.
struct SmoothFlow {
  test::PointFunction u, v, w;
  std::function<Gradient(double x, double y, double z)> gradient;
};

/// Errors of velocity, vorticity, Q and lambda2.
std::array<double, 8> errors_of(const Flow& flow, const SmoothFlow& smooth) {
  const Fields velocity = computed(flow, "velocity");
  const Fields vorticity = computed(flow, "vorticity");
  const auto curl = [&](std::size_t a, std::size_t b) {
    return [&smooth, a, b](double x, double y, double z) {
      const Gradient g = smooth.gradient(x, y, z);
      return g[a][b] - g[b][a];
    };
  };
  return {error_of(flow, velocity[0], smooth.u),
          error_of(flow, velocity[1], smooth.v),
          error_of(flow, velocity[2], smooth.w),
          error_of(flow, vorticity[0], curl(2, 1)),
          error_of(flow, vorticity[1], curl(0, 2)),
          error_of(flow, vorticity[2], curl(1, 0)),
          error_of(flow, computed(flow, "q")[0],
                   [&](double x, double y, double z) { return second_invariant(smooth.gradient(x, y, z)); }),
          error_of(flow, computed(flow, "lambda2")[0],
                   [&](double x, double y, double z) { return lambda2(smooth.gradient(x, y, z)); })};
}

void expect_orders(const std::vector<FlowCase>& cases, const SmoothFlow& smooth, double least) {
  const std::array names{"u", "v", "w", "omega_x", "omega_y", "omega_z", "q", "lambda2"};
  std::array<std::vector<double>, 8> errors;
  std::vector<double> sizes;
  for (const FlowCase& settings : cases) {
    Flow flow(settings);
    flow.set_velocity(smooth.u, smooth.v, smooth.w);
    const auto of_case = errors_of(flow, smooth);
    for (std::size_t n = 0; n < errors.size(); ++n) errors[n].push_back(of_case[n]);
    sizes.push_back(1.0 / static_cast<double>(settings.cells[0]));
  }
  for (std::size_t n = 0; n < errors.size(); ++n) {
    if (errors[n].front() > 0) test::expect_order(names[n], sizes, errors[n], least);  // 0 / 0 where there is nothing
  }
}

// Flows along x and y alone, between free-slip walls: the order of the scheme along x and y.
TEST_P(BothOrders, ConvergeAlongXAndY) {
  const SmoothFlow smooth{
      [](double x, double y, double) { return std::sin(x + 0.3) * std::cos(2 * y); },
      [](double x, double y, double) { return std::cos(x) * std::sin(y + 0.2) + 0.5 * std::sin(x + y); },
      [](double, double, double) { return 0.0; },
      [](double x, double y, double) {
        Gradient g{};
        g[0][0] = std::cos(x + 0.3) * std::cos(2 * y);
        g[0][1] = -2 * std::sin(x + 0.3) * std::sin(2 * y);
        g[1][0] = -std::sin(x) * std::sin(y + 0.2) + 0.5 * std::cos(x + y);
        g[1][1] = std::cos(x) * std::cos(y + 0.2) + 0.5 * std::cos(x + y);
        return g;
      }};
  std::vector<FlowCase> cases;
  for (const std::int64_t n : {24, 48, 96}) {
    FlowCase settings;
    settings.cells = {n, n, 4};
    settings.flow.order = GetParam();
    settings.flow.bottom.kind = settings.flow.top.kind = WallKind::free_slip;
    cases.push_back(settings);
  }
  expect_orders(cases, smooth, GetParam() == Order::fourth ? 3.8 : 1.9);
}

// All nine derivatives, on a stretched grid: order 2 along z.
TEST_P(BothOrders, ConvergeInThreeDimensions) {
  constexpr double c = std::numbers::pi / 2;
  const SmoothFlow smooth{
      [](double x, double y, double z) { return std::sin(x) * std::cos(y) * std::sin(c * z); },
      [](double x, double y, double z) { return std::cos(x + y) * std::sin(2 * c * z); },
      [](double x, double y, double z) { return std::sin(x + 0.4) * std::sin(y) * std::sin(c * z); },
      [](double x, double y, double z) {
        return Gradient{
            {{std::cos(x) * std::cos(y) * std::sin(c * z), -std::sin(x) * std::sin(y) * std::sin(c * z),
              c * std::sin(x) * std::cos(y) * std::cos(c * z)},
             {-std::sin(x + y) * std::sin(2 * c * z), -std::sin(x + y) * std::sin(2 * c * z),
              2 * c * std::cos(x + y) * std::cos(2 * c * z)},
             {std::cos(x + 0.4) * std::sin(y) * std::sin(c * z), std::sin(x + 0.4) * std::cos(y) * std::sin(c * z),
              c * std::sin(x + 0.4) * std::sin(y) * std::cos(c * z)}}};
      }};
  std::vector<FlowCase> cases;
  for (const std::int64_t n : {12, 24, 48}) {
    FlowCase settings;
    settings.cells = {n, n, n};
    settings.z_nodes = tanh_nodes(n, 2, 1.5, true);
    settings.flow.order = GetParam();
    cases.push_back(settings);
  }
  expect_orders(cases, smooth, 1.8);
}

TEST_P(BothOrders, FluctuationsHaveNoMeanAndAPartHasTheValuesOfTheWhole) {
  FlowCase settings;
  settings.cells = {12, 10, 9};
  settings.flow.order = GetParam();
  Flow flow(settings);
  flow.set_random(5);
  const Fields velocity = computed(flow, "velocity");
  const Fields fluctuation = computed(flow, "fluctuation");
  constexpr std::size_t plane = 12 * 10;
  for (std::size_t n = 0; n < 3; ++n) {
    for (std::size_t k = 0; k < 9; ++k) {
      const auto first = velocity[n].begin() + static_cast<std::ptrdiff_t>(k * plane);
      const double mean = std::accumulate(first, first + plane, 0.0) / plane;
      for (std::size_t m = k * plane; m < (k + 1) * plane; ++m)
        ASSERT_NEAR(fluctuation[n][m], velocity[n][m] - mean, test::round_off(1e-14));
    }
  }
  const Fields part = computed(flow, "velocity", {3, 2, 4});
  std::size_t m = 0;
  for (std::size_t k = 0; k < 9; k += 4) {
    for (std::size_t j = 0; j < 10; j += 2) {
      for (std::size_t i = 0; i < 12; i += 3) ASSERT_EQ(part[1][m++], velocity[1][k * plane + j * 12 + i]);
    }
  }
  EXPECT_EQ(part[1].size(), m);
}

INSTANTIATE_TEST_SUITE_P(CenterFields, BothOrders, testing::Values(Order::second, Order::fourth),
                         [](const auto& order) { return test::name_of(order.param); });

}  // namespace
}  // namespace sluice
