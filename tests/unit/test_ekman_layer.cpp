// Ekman layers: their scales, their expected friction velocity, and the stress that u_tau is formed from.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "model/key_figures.hpp"
#include "model/mean_flow.hpp"
#include "solver/physics/terms.hpp"
#include "tests/support/rotation.hpp"

namespace sluice {
namespace {

/// An Ekman layer whose geostrophic velocity is along no axis. `depth`: D in the unit of length of the case.
FlowParameters layer(double re_d, double speed = 1, double depth = 1) {
  FlowParameters flow;
  flow.viscosity = speed * depth / re_d;
  test::rotation_of(flow).rate[2] = flow.viscosity / (depth * depth);  // D = sqrt(nu/Omega)
  test::rotation_of(flow).geostrophic = {0.6 * speed, -0.8 * speed};
  return flow;
}

TEST(EkmanLayer, HasTheScalesOfTheCase) {
  const BoundaryLayer found = *boundary_layer(layer(400, 3, 0.5));
  EXPECT_NEAR(found.speed, 3, 1e-14);
  EXPECT_NEAR(found.depth, 0.5, 1e-14);
  EXPECT_NEAR(found.reynolds, 400, 1e-11);
  EXPECT_NEAR(found.period, 2 * std::numbers::pi / (2 * test::rotation_of(layer(400, 3, 0.5)).rate[2]), 1e-11);
}

TEST(EkmanLayer, ExpectsThePublishedFrictionVelocity) {
  for (const double speed : {1.0, 3.0}) {
    EXPECT_NEAR(boundary_layer(layer(400, speed))->friction_velocity / speed, 0.0652, 0.02 * 0.0652);
    EXPECT_NEAR(boundary_layer(layer(1000, speed))->friction_velocity / speed, 0.0531, 0.02 * 0.0531);
  }
}

TEST(EkmanLayer, ExpectsTheExactLaminarFrictionVelocityAtLowReynoldsNumbers) {
  EXPECT_NEAR(boundary_layer(layer(60, 2))->friction_velocity, 2 * std::sqrt(std::numbers::sqrt2 / 60), 1e-13);
}

TEST(WallStress, IsTheMagnitudeOnlyWhereTheMeanFlowTurns) {
  FlowParameters flow;
  EXPECT_EQ(stress_of_u_tau(mean_flow(flow).changes_direction, -3, 4), 3);
  test::rotation_of(flow).rate = {0.1, 0.2, 0};
  EXPECT_EQ(stress_of_u_tau(mean_flow(flow).changes_direction, -3, 4), 3);
  test::rotation_of(flow).rate[2] = -0.1;
  EXPECT_EQ(stress_of_u_tau(mean_flow(flow).changes_direction, -3, 4), 5);
}

/// The laminar layer of D = 1 in a domain 24 high: Re_tau and C_f do not depend on the height.
TEST(KeyFigures, OfAnEkmanLayerHaveItsOwnLengthAndVelocity) {
  const FlowParameters layer_of = layer(50);
  StatisticsFlow flow{.viscosity = layer_of.viscosity,
                      .bottom = {WallKind::no_slip, {}},
                      .top = {WallKind::free_slip, {}},
                      .z = {},
                      .z_face = {},
                      .terms = mean_flow(layer_of)};
  std::vector<ProfileInfo> profiles;
  for (const char* name : {"u", "v", "w", "uu", "vv", "ww"}) profiles.push_back({name, name});
  for (const char* name : {"uw", "tau_xz", "tau_yz"}) profiles.push_back({name, name, "1", ProfileAxis::z_face});
  StatisticsBlock block;
  block.samples = 1;
  block.sums.resize(profiles.size());
  constexpr int nz = 96;
  for (int k = 0; k <= nz; ++k) {
    const double z = 24.0 * k / nz;
    flow.z_face.push_back(z);
    // nu d/dz of (u, v) = G (1 - e^-z cos z, e^-z sin z), turned into the direction of G
    const double along = layer_of.viscosity * std::exp(-z) * (std::cos(z) + std::sin(z));
    const double left = layer_of.viscosity * std::exp(-z) * (std::cos(z) - std::sin(z));
    block.sums[6].push_back(0);
    block.sums[7].push_back(0.6 * along + 0.8 * left);
    block.sums[8].push_back(-0.8 * along + 0.6 * left);
    if (k == nz) break;
    flow.z.push_back(z + 12.0 / nz);
    for (std::size_t n = 0; n < 6; ++n) block.sums[n].push_back(0);
  }
  const KeyFigureValues values = KeyFigures(flow, profiles).estimate({&block, 1}).values;
  const double u_tau = std::sqrt(std::numbers::sqrt2 / 50);
  EXPECT_NEAR(values[0], u_tau * 50, 1e-12);         // Re_tau = u_tau h/nu with h = D
  EXPECT_NEAR(values[1], 2 * u_tau * u_tau, 1e-13);  // C_f = 2 (u_tau/G)^2
  EXPECT_TRUE(std::isnan(values[6]));
}

}  // namespace
}  // namespace sluice
