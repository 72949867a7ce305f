// One sample of the statistics against direct sums over the downloaded fields, and against flows whose
// statistics are known. (That they are the same on every process grid: test_process_grid.)
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "solver/grid/stretching.hpp"
#include "solver/initial.hpp"
#include "solver/statistics/statistics.hpp"
#include "tests/support/direct_sums.hpp"

namespace sluice {
namespace {

using test::Direct;
using test::Flow;
using test::FlowCase;
using test::GlobalArray;
using test::Profiles;
using test::rough_case;
using test::sampled_profiles;
using test::statistics_of;

StatisticsBlock sample(Flow& flow, int times = 1) {
  Statistics statistics = statistics_of(flow);
  for (int n = 0; n < times; ++n) {
    statistics.sample(flow.state, 0.25);
    flow.state.time += 1;
  }
  return statistics.close_block(flow.state.step);
}

using Index = std::int64_t;

void compare(const Profiles& sampled, const std::string& name, const std::vector<double>& direct) {
  const std::vector<double>& found = sampled.at(name);
  ASSERT_EQ(found.size(), direct.size()) << name;
  double worst = 0;
  double size = 0;
  for (std::size_t k = 0; k < direct.size(); ++k) {
    worst = std::max(worst, std::abs(found[k] - direct[k]));
    size = std::max(size, std::abs(direct[k]));
  }
  EXPECT_GT(size, 0) << name;
  test::expect_at_most(name + ": sampled - direct over the largest value", worst / size, test::round_off(1e-13));
}

/// A flow whose statistics are all different from 0, except the mean of w.
class RoughFlow : public testing::TestWithParam<Order> {
 protected:
  RoughFlow() : flow(rough_case(GetParam())) {
    flow.set_random(21);
    flow.advance(2, 0.5 * flow.stepper.time_step_limit(flow.state));
    sampled = sampled_profiles(flow);
    direct.emplace(flow);
  }

  Flow flow;
  Profiles sampled;
  std::optional<Direct> direct;
};

TEST_P(RoughFlow, MomentsMatchDirectSums) {
  const Direct& d = *direct;
  const auto power = [&](const GlobalArray& f, int n) {
    return d.at_centers([&d, &f, n](Index i, Index j, Index k) { return std::pow(d.at(f, i, j, k), n); });
  };
  const char* of_u[] = {"u", "uu", "uuu", "uuuu"};
  const char* of_v[] = {"v", "vv", "vvv", "vvvv"};
  const char* of_w[] = {"w", "ww", "www", "wwww"};
  for (int n = 1; n <= 4; ++n) {
    compare(sampled, of_u[n - 1], power(d.u, n));
    compare(sampled, of_v[n - 1], power(d.v, n));
    if (n == 1) continue;  // the mean of w is round-off
    compare(sampled, of_w[n - 1], d.at_centers([&](Index i, Index j, Index k) {
      return (std::pow(d.w_at(i, j, k - 1), n) + std::pow(d.w_at(i, j, k), n)) / 2;
    }));
  }
  compare(sampled, "p", power(d.p, 1));
  compare(sampled, "pp", power(d.p, 2));
  double mean_w = 0;
  for (const double w : sampled.at("w")) mean_w = std::max(mean_w, std::abs(w));
  test::expect_at_most("largest mean of w", mean_w, test::round_off(1e-14));
}

TEST_P(RoughFlow, FluxesAndStressesMatchDirectSums) {
  const Direct& d = *direct;
  const double nu = flow.settings.flow.viscosity;
  compare(sampled, "uv", d.at_centers([&](Index i, Index j, Index k) {
    return d.halfway([&](Index n) { return d.u_at(i, j + n, k); }) *
           d.halfway([&](Index n) { return d.v_at(i + n, j, k); });
  }));
  compare(sampled, "uw", d.at_faces([&](Index i, Index j, Index k) {
    return (d.u_at(i, j, k) + d.u_at(i, j, k + 1)) / 2 * d.halfway([&](Index n) { return d.w_at(i + n, j, k); });
  }));
  compare(sampled, "vw", d.at_faces([&](Index i, Index j, Index k) {
    return (d.v_at(i, j, k) + d.v_at(i, j, k + 1)) / 2 * d.halfway([&](Index n) { return d.w_at(i, j + n, k); });
  }));
  compare(sampled, "tau_xz", d.at_faces([&](Index i, Index j, Index k) {
    return nu * (d.u_at(i, j, k + 1) - d.u_at(i, j, k)) / d.spacing(k);
  }));
  compare(sampled, "tau_yz", d.at_faces([&](Index i, Index j, Index k) {
    return nu * (d.v_at(i, j, k + 1) - d.v_at(i, j, k)) / d.spacing(k);
  }));
}

TEST_P(RoughFlow, VorticityMatchesDirectSums) {
  const Direct& d = *direct;
  const auto omega_x = [&](Index i, Index j, Index k) {
    return d.derivative(flow.grid.dy(), [&](Index n) { return d.w_at(i, j + n, k); }) -
           (d.v_at(i, j, k + 1) - d.v_at(i, j, k)) / d.spacing(k);
  };
  const auto omega_y = [&](Index i, Index j, Index k) {
    return (d.u_at(i, j, k + 1) - d.u_at(i, j, k)) / d.spacing(k) -
           d.derivative(flow.grid.dx(), [&](Index n) { return d.w_at(i + n, j, k); });
  };
  const auto omega_z = [&](Index i, Index j, Index k) {
    return d.derivative(flow.grid.dx(), [&](Index n) { return d.v_at(i + n, j, k); }) -
           d.derivative(flow.grid.dy(), [&](Index n) { return d.u_at(i, j + n, k); });
  };
  const auto mean_of_faces = [&](auto quantity, int n) {
    return d.at_centers([quantity, n](Index i, Index j, Index k) {
      return (std::pow(quantity(i, j, k - 1), n) + std::pow(quantity(i, j, k), n)) / 2;
    });
  };
  compare(sampled, "omega_x", mean_of_faces(omega_x, 1));
  compare(sampled, "omega_y", mean_of_faces(omega_y, 1));
  compare(sampled, "omega_xx", mean_of_faces(omega_x, 2));
  compare(sampled, "omega_yy", mean_of_faces(omega_y, 2));
  compare(sampled, "omega_zz", d.at_centers([&](Index i, Index j, Index k) { return std::pow(omega_z(i, j, k), 2); }));
}

INSTANTIATE_TEST_SUITE_P(Orders, RoughFlow, testing::Values(Order::second, Order::fourth),
                         [](const auto& order) { return test::name_of(order.param); });

TEST(FlowStatistics, WallStressIsTheOneOfTheDiagnostics) {
  Flow flow(rough_case());
  flow.set_random(4);
  const Profiles sampled = sampled_profiles(flow);
  const Diagnostics d = flow.stepper.diagnose(flow.state);
  test::expect_at_most("bottom", std::abs(sampled.at("tau_xz").front() / d.shear_bottom - 1), test::round_off(1e-14));
  test::expect_at_most("top", std::abs(sampled.at("tau_xz").back() / d.shear_top - 1), test::round_off(1e-14));
  EXPECT_EQ(sampled.at("uw").front(), 0);
  EXPECT_EQ(sampled.at("uw").back(), 0);
}

/// u = -0.5 + 0.6 z, v = 0.2 - 0.25 z: the same vorticity and stress everywhere, walls included.
TEST(FlowStatistics, OfASolidShear) {
  FlowCase settings = rough_case();
  settings.flow.forcing = {ForcingKind::none, 0};
  Flow flow(settings);
  set_laminar(flow.state, flow.stepper, flow.grid, settings.flow);
  const Profiles sampled = sampled_profiles(flow);
  const std::map<std::string, double> known{
      {"omega_x", 0.25}, {"omega_y", 0.6},  {"omega_xx", 0.0625}, {"omega_yy", 0.36},
      {"omega_zz", 0},   {"tau_xz", 0.006}, {"tau_yz", -0.0025},  {"uw", 0},
      {"ww", 0},         {"p", 0}};
  double worst = 0;
  for (const auto& [name, value] : known) {
    for (const double found : sampled.at(name)) worst = std::max(worst, std::abs(found - value));
  }
  test::expect_at_most("vorticity and stress of a solid shear, largest error", worst, test::round_off(1e-13));
}

TEST(FlowStatistics, SamplesAddUp) {
  Flow flow(rough_case());
  flow.set_random(4);
  flow.state.time = 5;
  const StatisticsBlock one = sample(flow);
  flow.state.time = 5;
  const StatisticsBlock four = sample(flow, 4);
  EXPECT_EQ(one.samples, 1);
  EXPECT_EQ(four.samples, 4);
  EXPECT_EQ(four.time_begin, 5);
  EXPECT_EQ(four.time_end, 8);
  EXPECT_EQ(four.forcing, 1);
  for (std::size_t n = 0; n < one.sums.size(); ++n) {
    for (std::size_t k = 0; k < one.sums[n].size(); ++k)
      EXPECT_NEAR(four.sums[n][k], 4 * one.sums[n][k], 1e-15 + 1e-15 * std::abs(four.sums[n][k]));
  }
}

}  // namespace
}  // namespace sluice
