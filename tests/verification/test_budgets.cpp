// The terms of the budgets of uu, vv, ww and uw, formed from one sample of the statistics as docs/equations.md says,
// add up to the rate of change that the momentum equations of the scheme give: sums over the velocity times
// R - grad p, written plainly.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "tests/support/budget_terms.hpp"
#include "tests/support/direct_sums.hpp"
#include "tests/support/rates_of_change.hpp"
#include "tests/support/smooth_flow.hpp"

namespace sluice {
namespace {

using test::Budget;
using test::Budgets;
using test::covariance;
using test::Derivative;
using test::Direct;
using test::expect_closed;
using test::Flow;
using test::FlowCase;
using test::Profile;
using test::Profiles;
using test::Rates;
using test::SmoothFlow;
using Index = std::int64_t;

class BudgetsOfRoughFlow : public testing::TestWithParam<Order> {
 protected:
  BudgetsOfRoughFlow() : flow(test::rough_case(GetParam())) {
    flow.set_random(21);
    flow.advance(2, 0.5 * flow.stepper.time_step_limit(flow.state));
    profiles = test::sampled_profiles(flow);
  }
  Flow flow;
  Profiles profiles;
};

TEST_P(BudgetsOfRoughFlow, TermsAddUpToTheRateOfChange) {
  const Budgets budgets(flow, profiles);
  const Rates rate(flow);
  const Direct& d = rate.direct;
  const Index nz = flow.settings.cells[2];
  const auto u = [&](Index i, Index j, Index k) { return d.at(d.u, i, j, k); };
  const auto v = [&](Index i, Index j, Index k) { return d.at(d.v, i, j, k); };
  const auto w = [&](Index i, Index j, Index k) { return d.w_at(i, j, k); };
  const auto r_u = [&](Index i, Index j, Index k) { return rate.u(i, j, k); };
  const auto r_v = [&](Index i, Index j, Index k) { return rate.v(i, j, k); };
  const auto r_w = [&](Index i, Index j, Index k) { return rate.w(i, j, k); };
  const auto twice = [](Profile profile) {
    for (double& value : profile) value *= 2;
    return profile;
  };
  expect_closed("uu", budgets.along("u"), twice(covariance(d, nz, u, r_u)));
  expect_closed("vv", budgets.along("v"), twice(covariance(d, nz, v, r_v)));
  expect_closed("ww", budgets.of_ww(), twice(covariance(d, nz - 1, w, r_w)));

  // uw is the mean of u below and above the face times w interpolated to the same point.
  const auto on_face = [](const auto& f) {
    return [&f](Index i, Index j, Index k) { return (f(i, j, k) + f(i, j, k + 1)) / 2; };
  };
  const auto along_x = [&d](const auto& f) {
    return [&d, &f](Index i, Index j, Index k) { return d.halfway([&](Index n) { return f(i + n, j, k); }); };
  };
  Profile rate_of_uw = covariance(d, nz - 1, on_face(u), along_x(r_w));
  const Profile other = covariance(d, nz - 1, on_face(r_u), along_x(w));
  for (std::size_t k = 0; k < other.size(); ++k) rate_of_uw[k] += other[k];
  expect_closed("uw", budgets.of_uw(), rate_of_uw);
}

/// Pressure moves energy between the components, and creates none.
TEST_P(BudgetsOfRoughFlow, PressureStrainHasNoTrace) {
  double worst = 0;
  double size = 0;
  for (std::size_t k = 0; k < profiles.at("p_dudx").size(); ++k) {
    const double terms[] = {profiles.at("p_dudx")[k], profiles.at("p_dvdy")[k], profiles.at("p_dwdz")[k]};
    worst = std::max(worst, std::abs(terms[0] + terms[1] + terms[2]));
    size = std::max(size, std::abs(terms[0]));
  }
  test::expect_at_most("p div u over p du/dx", worst / size, test::round_off(1e-12));
}

/// The terms of the exact budgets, averages over x and y at a height z.
struct ExactBudgets {
  using D = Derivative;
  SmoothFlow f;
  double nu;

  static double average(const auto& quantity) { return test::plane_average(quantity); }

  /// Terms of the budget of <a b> at z, with a(x, y, z, derivative) and the like; strain(x, y) and
  /// pressure_transport(x, y): the integrands of the two pressure terms.
  struct Terms {
    double production, transport, pressure_strain, pressure_transport, diffusion, dissipation;
  };
  Terms of(const auto& a, const auto& b, double production, double z, const auto& strain,
           const auto& pressure_transport) const {
    const D none, dx{1, 0, 0}, dy{0, 1, 0}, dz{0, 0, 1}, dzz{0, 0, 2};
    const auto mean = [&](const auto& quantity) { return average(quantity); };
    return {
        production,
        -mean([&](double x, double y) {
          return a(x, y, z, dz) * b(x, y, z, none) * f.w(x, y, z) + a(x, y, z, none) * b(x, y, z, dz) * f.w(x, y, z) +
                 a(x, y, z, none) * b(x, y, z, none) * f.w(x, y, z, dz);
        }),
        mean(strain),
        mean(pressure_transport),
        nu * mean([&](double x, double y) {
          return a(x, y, z, dzz) * b(x, y, z, none) + 2 * a(x, y, z, dz) * b(x, y, z, dz) +
                 a(x, y, z, none) * b(x, y, z, dzz);
        }),
        2 * nu * mean([&](double x, double y) {
          return a(x, y, z, dx) * b(x, y, z, dx) + a(x, y, z, dy) * b(x, y, z, dy) + a(x, y, z, dz) * b(x, y, z, dz);
        })};
  }
  Terms uu(double z) const {
    const auto u = [&](double x, double y, double s, D d) { return f.u(x, y, s, d); };
    const double uw = average([&](double x, double y) { return f.u(x, y, z) * f.w(x, y, z); });
    return of(
        u, u, -2 * uw * SmoothFlow::mean_u(z, 1), z,
        [&](double x, double y) {
          return 2 * f.p(x, y, z) * f.u(x, y, z, {1, 0, 0});
        },
        [](double, double) { return 0.0; });
  }
  Terms vv(double z) const {
    const auto v = [&](double x, double y, double s, D d) { return f.v(x, y, s, d); };
    return of(
        v, v, 0, z,
        [&](double x, double y) {
          return 2 * f.p(x, y, z) * f.v(x, y, z, {0, 1, 0});
        },
        [](double, double) { return 0.0; });
  }
  Terms ww(double z) const {
    const auto w = [&](double x, double y, double s, D d) { return f.w(x, y, s, d); };
    const D dz{0, 0, 1};
    return of(
        w, w, 0, z, [&](double x, double y) { return 2 * f.p(x, y, z) * f.w(x, y, z, dz); },
        [&](double x, double y) { return -2 * (f.p(x, y, z, dz) * f.w(x, y, z) + f.p(x, y, z) * f.w(x, y, z, dz)); });
  }
  Terms uw(double z) const {
    const auto u = [&](double x, double y, double s, D d) { return f.u(x, y, s, d); };
    const auto w = [&](double x, double y, double s, D d) { return f.w(x, y, s, d); };
    const D dx{1, 0, 0}, dz{0, 0, 1};
    const double p = average([&](double x, double y) { return f.p(x, y, z); });
    const double ww = average([&](double x, double y) { return f.w(x, y, z) * f.w(x, y, z); });
    return of(
        u, w, -ww * SmoothFlow::mean_u(z, 1), z,
        [&](double x, double y) { return (f.p(x, y, z) - p) * (f.u(x, y, z, dz) + f.w(x, y, z, dx)); },
        [&](double x, double y) {
          return -((f.p(x, y, z, dz) - SmoothFlow::mean_p(z, 1)) * f.u(x, y, z) +
                   (f.p(x, y, z) - p) * f.u(x, y, z, dz));
        });
  }
};

/// Each term of the budgets converges to its exact value with the order of the scheme along z.
TEST(BudgetsOfSmoothFlow, EachTermConvergesToItsExactValue) {
  const SmoothFlow smooth;
  const ExactBudgets exact{smooth, 0.05};
  for (const Order order : {Order::second, Order::fourth}) {
    std::map<std::string, std::vector<double>> errors;
    std::vector<double> sizes;
    for (const Index n : {16, 32}) {
      FlowCase settings;
      settings.cells = {n, n, 2 * n};
      settings.z_nodes = tanh_nodes(2 * n, std::numbers::pi, 0.8, true);
      settings.flow.order = order;
      settings.flow.viscosity = exact.nu;
      settings.flow.bottom.kind = WallKind::free_slip;
      settings.flow.top.kind = WallKind::free_slip;
      Flow flow(settings);
      flow.set_velocity([&](double x, double y, double z) { return SmoothFlow::mean_u(z) + smooth.u(x, y, z); },
                        [&](double x, double y, double z) { return smooth.v(x, y, z); },
                        [&](double x, double y, double z) { return smooth.w(x, y, z); });
      flow.set(flow.state.p, [&](double x, double y, double z) { return smooth.p(x, y, z); });
      flow.stepper.fill_halos(flow.state);
      const Profiles profiles = test::sampled_profiles(flow);
      const Budgets budgets(flow, profiles);
      sizes.push_back(1.0 / static_cast<double>(n));
      const auto compare = [&](const std::string& name, const Budget& found, bool at_faces, const auto& terms_at) {
        std::map<std::string, double> largest;
        std::map<std::string, double> scale;
        for (std::size_t k = 0; k < found.dissipation.size(); ++k) {
          const auto plane = static_cast<Index>(k);
          const double z = at_faces ? flow.grid.z_nodes()[k + 1] : flow.grid.z_center(plane);
          const ExactBudgets::Terms terms = terms_at(z);
          const auto note = [&](const char* term, const Profile& values, double value) {
            const double difference = std::abs((values.empty() ? 0 : values[k]) - value);
            largest[term] = std::max(largest[term], difference);
            scale[term] = std::max(scale[term], std::abs(value));
          };
          note("production", found.production, terms.production);
          note("transport", found.transport, terms.transport);
          note("pressure strain", found.pressure_strain, terms.pressure_strain);
          note("pressure transport", found.pressure_transport, terms.pressure_transport);
          // In the cell at a wall, diffusion on a stretched grid is of first order.
          if (at_faces || (k > 0 && k + 1 < found.dissipation.size()))
            note("diffusion", found.diffusion, terms.diffusion);
          note("dissipation", found.dissipation, terms.dissipation);
        }
        for (const auto& [term, value] : largest) {
          if (scale[term] > 0) errors[name + " " + term].push_back(value / scale[term]);
        }
      };
      compare("uu", budgets.along("u"), false, [&](double z) { return exact.uu(z); });
      compare("vv", budgets.along("v"), false, [&](double z) { return exact.vv(z); });
      compare("ww", budgets.of_ww(), true, [&](double z) { return exact.ww(z); });
      compare("uw", budgets.of_uw(), true, [&](double z) { return exact.uw(z); });
    }
    for (const auto& [term, values] : errors)
      test::expect_order(test::name_of(order) + ", " + term, sizes, values, 1.85);
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, BudgetsOfRoughFlow, testing::Values(Order::second, Order::fourth),
                         [](const auto& order) { return test::name_of(order.param); });

}  // namespace
}  // namespace sluice
