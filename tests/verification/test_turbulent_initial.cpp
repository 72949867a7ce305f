// The turbulent initial field: divergence-free, at the bulk velocity, with fluctuations of the intensity that
// docs/equations.md states, no mean flow of their own, different for every seed, and strong enough that turbulence
// survives; and the laminar and turbulent mean profiles behind the initial fields.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "solver/grid/stretching.hpp"
#include "solver/initial.hpp"
#include "tests/support/flow_case.hpp"
#include "tests/support/rotation.hpp"

namespace sluice {
namespace {

using std::numbers::pi;
using test::Flow;
using test::FlowCase;
using test::GlobalArray;

FlowCase channel(Order order = Order::second, std::array<std::int64_t, 3> cells = {48, 32, 48}) {
  FlowCase settings;
  settings.cells = cells;
  settings.length_x = 4 * pi;
  settings.length_y = 4 * pi / 3;
  settings.z_nodes = tanh_nodes(cells[2], 2, 1.6, true);
  settings.flow.viscosity = 2.0 / 5714;
  settings.flow.forcing = {ForcingKind::bulk_velocity, 1};
  settings.flow.order = order;
  return settings;
}

FlowCase open_channel(Order order = Order::second) {
  FlowCase settings = channel(order);
  settings.z_nodes = tanh_nodes(48, 1, 1.6, false);
  settings.flow.top.kind = WallKind::free_slip;
  return settings;
}

FlowCase couette(Order order = Order::second) {
  FlowCase settings = channel(order);
  settings.flow.forcing = {ForcingKind::none, 0};
  settings.flow.viscosity = 1.0 / 1500;
  settings.flow.bottom.velocity[0] = -1;
  settings.flow.top.velocity[0] = 1;
  return settings;
}

/// The smallest box and Reynolds number in which turbulent Couette flow sustains itself (Hamilton, Kim & Waleffe 1995).
FlowCase smallest_couette(std::array<std::int64_t, 3> cells) {
  FlowCase settings = couette(Order::fourth);
  settings.cells = cells;
  settings.length_x = 1.75 * pi;
  settings.length_y = 1.2 * pi;
  settings.z_nodes = tanh_nodes(cells[2], 2, 1.2, true);
  settings.flow.viscosity = 1.0 / 400;
  return settings;
}

FlowCase ekman_layer() {
  FlowCase settings = open_channel();
  settings.length_x = settings.length_y = 26;
  for (double& z : settings.z_nodes) z *= 24;
  settings.flow.forcing = {ForcingKind::none, 0};
  settings.flow.viscosity = 1.0 / 400;
  test::rotation_of(settings.flow).rate[2] = 0.0025;
  test::rotation_of(settings.flow).geostrophic = {1, 0};
  return settings;
}

struct Case {
  const char* name;
  FlowCase settings;
};

/// Every kind of flow and wall that has a turbulent start, and grids with few cells along x or y.
std::vector<Case> cases() {
  std::vector<Case> all{{"channel", channel()},
                        {"channel, order 4", channel(Order::fourth)},
                        {"open channel", open_channel()},
                        {"Couette flow", couette()},
                        {"smallest Couette flow", smallest_couette({16, 16, 24})},
                        {"Ekman layer", ekman_layer()}};
  FlowCase settings = channel();
  settings.flow.forcing = {ForcingKind::pressure_gradient, 0.004};
  test::rotation_of(settings.flow).rate[1] = 0.1;
  all.push_back({"rotating channel, given pressure gradient", settings});
  settings = channel();
  settings.flow.top.velocity[0] = 0.3;
  settings.flow.bottom.velocity[1] = 0.2;
  all.push_back({"driven channel with moving walls", settings});
  settings = channel();
  settings.flow.spanwise_forcing = {ForcingKind::bulk_velocity, 0.2};
  settings.flow.bottom.kind = WallKind::slip;
  settings.flow.bottom.slip_length = 0.02;
  all.push_back({"channel driven along y over a slip wall", settings});
  settings = open_channel();
  std::swap(settings.flow.bottom.kind, settings.flow.top.kind);
  all.push_back({"no-slip wall above", settings});
  settings = channel();
  settings.flow.bottom.kind = settings.flow.top.kind = WallKind::free_slip;
  all.push_back({"two free-slip walls", settings});
  for (const auto& [nx, ny] : {std::pair{32, 1}, {1, 32}, {2, 24}, {3, 3}, {4, 24}, {5, 7}, {7, 5}, {24, 2}})
    all.push_back({"channel on few cells", channel(ny % 2 == 0 ? Order::fourth : Order::second, {nx, ny, 24})});
  return all;
}

struct Start : Flow {
  explicit Start(const FlowCase& with, std::uint64_t seed = 1) : Flow(with) {
    set_turbulent(state, stepper, grid, settings.flow, seed, comm.world());
  }
  TurbulentProfile profile() const { return turbulent_profile(grid, settings.flow); }
};

/// Plane means of f g, for centres or for faces of both.
std::vector<double> plane_means(const GlobalArray& f, const GlobalArray& g) {
  const auto columns = static_cast<std::size_t>(f.cells[0] * f.cells[1]);
  std::vector<double> means(static_cast<std::size_t>(f.cells[2]));
  for (std::size_t n = 0; n < f.values.size(); ++n)
    means[n / columns] += f.values[n] * g.values[n] / static_cast<double>(columns);
  return means;
}

std::vector<double> plane_means(const GlobalArray& f) {
  GlobalArray one = f;
  std::ranges::fill(one.values, 1.0);
  return plane_means(f, one);
}

/// Without the mean over each plane.
GlobalArray fluctuations(GlobalArray f) {
  const std::vector<double> means = plane_means(f);
  const auto columns = static_cast<std::size_t>(f.cells[0] * f.cells[1]);
  for (std::size_t n = 0; n < f.values.size(); ++n) f.values[n] -= means[n / columns];
  return f;
}

/// Products of fluctuations, averaged over planes and then over the volume; w and u'w' at centres.
struct Intensities {
  std::vector<double> uu, vv, ww, uw;

  explicit Intensities(const Flow& flow) {
    const GlobalArray u = fluctuations(flow.read(flow.state.velocity.u));
    const GlobalArray v = fluctuations(flow.read(flow.state.velocity.v));
    const GlobalArray w = fluctuations(flow.read(flow.state.velocity.w));
    GlobalArray u_here(u.cells), w_here(u.cells);
    for (std::int64_t k = 0; k < u.cells[2]; ++k) {
      for (std::int64_t j = 0; j < u.cells[1]; ++j) {
        for (std::int64_t i = 0; i < u.cells[0]; ++i) {
          u_here(i, j, k) = (u(i, j, k) + u((i + u.cells[0] - 1) % u.cells[0], j, k)) / 2;
          w_here(i, j, k) = (w(i, j, k) + (k > 0 ? w(i, j, k - 1) : 0)) / 2;
        }
      }
    }
    uu = plane_means(u, u);
    vv = plane_means(v, v);
    ww = plane_means(w_here, w_here);
    uw = plane_means(u_here, w_here);
  }
};

TEST(TurbulentInitial, FluctuationsHaveNoMeanOverAnyPlane) {
  for (const auto& [name, settings] : cases()) {
    SCOPED_TRACE(name);
    for (const std::uint64_t seed : {1, 2, 3}) {
      const Start flow(settings, seed);
      const TurbulentProfile profile = flow.profile();
      const double largest =
          std::max(std::abs(*std::ranges::max_element(profile.u)), std::abs(*std::ranges::min_element(profile.u)));
      const auto difference = [&](const Field& field, const std::vector<double>& expected) {
        const std::vector<double> means = plane_means(flow.read(field));
        double worst = 0;
        for (std::size_t k = 0; k < means.size(); ++k)
          worst = std::max(worst, std::abs(means[k] - (expected.empty() ? 0 : expected[k])));
        return worst / largest;
      };
      const VectorField& velocity = flow.state.velocity;
      test::expect_at_most("plane mean of u - U over the largest U", difference(velocity.u, profile.u),
                           test::round_off(1e-14));
      test::expect_at_most("plane mean of v - V over the largest U", difference(velocity.v, profile.v),
                           test::round_off(1e-14));
      test::expect_at_most("plane mean of w over the largest U", difference(velocity.w, {}), test::round_off(1e-14));
    }
  }
}

TEST(TurbulentInitial, BulkVelocityAndDivergence) {
  for (const auto& [name, settings] : cases()) {
    SCOPED_TRACE(name);
    const Start flow(settings);
    const Diagnostics d = flow.stepper.diagnose(flow.state);
    EXPECT_TRUE(d.finite());
    test::expect_at_most("largest |div u| dz_min / U", d.max_divergence * flow.grid.dz_min(), test::round_off(1e-13));
    const bool given = settings.flow.forcing.kind == ForcingKind::bulk_velocity;
    const bool symmetric = settings.flow.bottom.constant_velocity(0) == -settings.flow.top.constant_velocity(0);
    if (given || (symmetric && settings.flow.bottom.constant_velocity(0) != 0))
      test::expect_at_most("|U_b - target|", std::abs(d.bulk_velocity - (given ? 1 : 0)), test::round_off(2e-15));
  }
}

/// One size of waves fits this box: its plane means are known in closed form, whatever the seed.
TEST(TurbulentInitial, IntensitiesInTheSmallestCouetteFlow) {
  const FlowCase settings = smallest_couette({48, 48, 48});
  for (const std::uint64_t seed : {1, 2, 123456789}) {
    const Start flow(settings, seed);
    const double u_tau = flow.profile().friction_velocity;
    const Intensities found(flow);
    const double along_x = 2 * pi / settings.length_x;
    const double along_y = 2 * pi / settings.length_y;
    const double meander = 0.7 * along_x * 2 / pi;
    double worst = 0;
    for (std::int64_t k = 0; k < settings.cells[2]; ++k) {
      const double s = flow.grid.z_center(k) / 2;
      const double bump = std::sin(pi * s);
      const double turn = std::pow(std::sin(2 * pi * s), 2) / 2;
      const auto n = static_cast<std::size_t>(k);
      const auto compare = [&](double value, double expected) {
        worst = std::max(worst, std::abs(value / (u_tau * u_tau) - expected));
      };
      compare(found.uu[n], 9 * bump * bump / 2 + std::pow(meander * pi / (2 * along_x), 2) * turn);
      compare(found.vv[n], 1.5 * 1.5 * bump * bump / 2 + std::pow(pi / (2 * along_y), 2) * turn);
      compare(found.ww[n], (1 + meander * meander) * std::pow(bump, 4) / 2);
      compare(found.uw[n], -3 * std::pow(bump, 3) / 2);
    }
    test::expect_at_most("largest error of <u_i' u_j'> over u_tau^2", worst, 0.05);
  }
}

/// Volume means of the energy and of the shear stress, where several sizes and walls add up and seeds choose among
/// wavelengths. `layers`: how many waves of different size lie above each other, on average over the volume.
TEST(TurbulentInitial, IntensitiesWhereSizesAddUp) {
  struct Sum {
    FlowCase settings;
    double layers;
  };
  for (const auto& [settings, layers] :
       {Sum{channel(), 1.5}, Sum{channel(Order::fourth), 1.5}, Sum{open_channel(), 1.5}, Sum{couette(), 2}}) {
    const bool couette_flow = settings.flow.bottom.constant_velocity(0) != 0;
    for (const std::uint64_t seed : {1, 2, 3, 4}) {
      const Start flow(settings, seed);
      const double u_tau = flow.profile().friction_velocity;
      const Intensities found(flow);
      double energy = 0;
      double stress = 0;
      for (std::int64_t k = 0; k < settings.cells[2]; ++k) {
        const auto n = static_cast<std::size_t>(k);
        const double share = flow.grid.dz(k) / flow.grid.length_z() / (u_tau * u_tau) / layers;
        const bool at_top_of_channel = settings.flow.top.drags() && !couette_flow && flow.grid.z_center(k) > 1;
        energy += (found.uu[n] + found.vv[n] + found.ww[n]) / 2 * share;
        stress += (at_top_of_channel ? 1 : -1) * found.uw[n] * share;
      }
      test::expect_at_least("energy of the fluctuations over u_tau^2, of one size", energy, 1.65);
      test::expect_at_most("energy of the fluctuations over u_tau^2, of one size", energy, 1.8);
      test::expect_at_least("shear stress over u_tau^2, of one size", stress, 0.6);
      test::expect_at_most("shear stress over u_tau^2, of one size", stress, 0.75);
    }
  }
}

TEST(TurbulentInitial, AnotherSeedGivesAnotherField) {
  const Start one(channel(), 1);
  const Start other(channel(), 2);
  const GlobalArray u = one.read(one.state.velocity.u);
  const GlobalArray v = other.read(other.state.velocity.u);
  double difference = 0;
  for (std::size_t n = 0; n < u.values.size(); ++n)
    difference = std::max(difference, std::abs(u.values[n] - v.values[n]));
  test::expect_at_least("largest difference over u_tau", difference / one.profile().friction_velocity, 1);
}

/// Laminar flow has Re_tau = 20, turbulent flow 34. Where it decays, it is nearly laminar after 200 h/U.
TEST(TurbulentInitial, TurbulenceSurvivesInTheSmallestCouetteFlow) {
  const FlowCase settings = smallest_couette({16, 16, 24});
  for (const std::uint64_t seed : {1, 2, 3}) {
    Start flow(settings, seed);
    double sum = 0;
    for (int sample = 0; sample < 15; ++sample) {
      flow.advance(sample == 0 ? 1800 : 50, 0.1);
      const Diagnostics d = flow.stepper.diagnose(flow.state);
      sum += (d.shear_bottom + d.shear_top) / 2;
    }
    test::expect_at_least("Re_tau of the mean shear from t = 180 to 250", std::sqrt(sum / 15) / settings.flow.viscosity,
                          28);
  }
}

TEST(TurbulentProfile, FrictionVelocityOfTheChannel) {
  const Flow flow(channel());
  const double u_tau = turbulent_profile(flow.grid, flow.settings.flow).friction_velocity;
  test::expect_at_most("Re_tau of the mean profile, relative to 182.1 (Lee & Moser 2015)",
                       std::abs(u_tau / flow.settings.flow.viscosity / 182.09 - 1), 0.05);
}

/// Couette at Re_w = 1500 has Re_tau = 92.9 (Lee & Moser 2018): the profile's wall law is near it.
TEST(TurbulentProfile, FrictionVelocityOfCouetteFlow) {
  const FlowCase settings = couette();
  const Flow flow(settings);
  const double re_tau = turbulent_profile(flow.grid, settings.flow).friction_velocity * 1500;
  test::expect_at_most("|Re_tau / 92.91 - 1|", std::abs(re_tau / 92.91 - 1), 0.1);
}

/// The laminar profile is the parabola to second order, and its bulk velocity the target exactly.
TEST(LaminarInitial, ParabolaToSecondOrder) {
  std::vector<double> heights, errors;
  for (const std::int64_t nz : {16, 32, 64}) {
    const FlowCase settings = channel(Order::second, {4, 4, nz});
    Flow flow(settings);
    set_laminar(flow.state, flow.stepper, flow.grid, settings.flow);
    heights.push_back(1.0 / static_cast<double>(nz));
    errors.push_back(flow.rms_error(flow.state.velocity.u, [](double, double, double z) { return 1.5 * z * (2 - z); }));
    test::expect_at_most("|U_b / target - 1|", std::abs(flow.stepper.diagnose(flow.state).bulk_velocity - 1),
                         test::round_off(2e-15));
  }
  test::expect_order("laminar profile on a stretched grid", heights, errors, 1.9);
}

}  // namespace
}  // namespace sluice
