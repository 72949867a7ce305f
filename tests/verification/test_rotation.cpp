// The Coriolis force: it does no work, plane flows do not notice it, and a uniform flow turns in circles.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <tuple>

#include "solver/grid/stretching.hpp"
#include "solver/physics/body_force.hpp"
#include "tests/support/flow_case.hpp"
#include "tests/support/rotation.hpp"

namespace sluice {
namespace {

using test::Flow;
using test::FlowCase;
using test::GlobalArray;
using Vector = std::array<double, 3>;

constexpr Vector streamwise{0.9, 0, 0}, spanwise{0, -1.3, 0}, wall_normal{0, 0, 0.7}, oblique{0.4, -1.1, 0.8};

FlowCase rotating(const Vector& rate, const test::Discretisation& form) {
  FlowCase settings;
  settings.cells = {20, 15, 24};
  settings.length_x = 3;
  settings.length_y = 1.7;
  settings.z_nodes = tanh_nodes(24, 2, 2.5, true);
  settings.flow.order = form.order;
  settings.flow.diffusion = form.diffusion;
  test::rotation_of(settings.flow).rate = rate;
  return settings;
}

/// The Coriolis force of the flow at this time, halos not filled.
VectorField coriolis_force(const Flow& flow) {
  VectorField force(flow.state.p.box(), flow.settings.flow.order);
  VectorField star(flow.state.p.box(), flow.settings.flow.order);
  BodyForces(flow.stepper.metrics(), flow.settings.flow).add(flow.state, flow.state.transported, 0, force, star);
  return force;
}

struct Work {
  double sum = 0;        ///< of u . F over the control volumes
  double magnitude = 0;  ///< of |u . F|
};

Work work(const Flow& flow, const Field& velocity, const Field& force) {
  const GlobalArray u = flow.read(velocity);
  const GlobalArray f = flow.read(force);
  Work result;
  for (std::int64_t k = 0; k < u.cells[2]; ++k) {
    const double volume = flow.height(velocity.location(), k);
    for (std::int64_t j = 0; j < u.cells[1]; ++j) {
      for (std::int64_t i = 0; i < u.cells[0]; ++i) {
        result.sum += u(i, j, k) * f(i, j, k) * volume;
        result.magnitude += std::abs(u(i, j, k) * f(i, j, k) * volume);
      }
    }
  }
  return result;
}

/// NaN if there is one.
double largest_difference(const GlobalArray& a, const GlobalArray& b) {
  double result = 0;
  for (std::size_t n = 0; n < a.values.size(); ++n) {
    const double difference = std::abs(a.values[n] - b.values[n]);
    if (!(difference <= result)) result = difference;
  }
  return result;
}

class CoriolisForce : public testing::TestWithParam<std::tuple<Vector, Order>> {};

TEST_P(CoriolisForce, DoesNoWorkOnAStretchedGrid) {
  const auto& [rate, order] = GetParam();
  Flow flow(rotating(rate, {Diffusion::explicit_, order}));
  flow.set_random(7);
  const VectorField force = coriolis_force(flow);
  const VectorField& velocity = flow.state.velocity;
  const Work u = work(flow, velocity.u, force.u);
  const Work v = work(flow, velocity.v, force.v);
  const Work w = work(flow, velocity.w, force.w);
  const double magnitude = u.magnitude + v.magnitude + w.magnitude;
  EXPECT_GT(magnitude, 1);
  test::expect_at_most("|<u, F>| / sum |u . F V|", std::abs(u.sum + v.sum + w.sum) / magnitude, test::round_off(1e-15));
}

/// The force itself, for a velocity that the means along x, y and z reproduce: -2 Omega x (a + b z), with b z in u and
/// v alone, because w vanishes on the walls.
TEST_P(CoriolisForce, IsTwiceTheRateTimesTheVelocity) {
  const auto& [rate, order] = GetParam();
  FlowCase settings = rotating(rate, {Diffusion::explicit_, order});
  test::rotation_of(settings.flow).geostrophic = {0.3, -0.2};
  Flow flow(settings);
  const auto u = [](double, double, double z) { return 1 + 0.5 * z; };
  const auto v = [](double, double, double z) { return 0.6 - 0.7 * z; };
  flow.set_velocity(u, v, [](double, double, double) { return -0.4; });
  const VectorField force = coriolis_force(flow);
  const auto [x, y, z] = rate;
  const GlobalArray force_u = flow.read(force.u), force_v = flow.read(force.v), force_w = flow.read(force.w);
  double error = 0;
  for (std::int64_t k = 1; k + 1 < settings.cells[2]; ++k) {  // next to the walls w is another
    const double center = flow.z(Location::center, k);
    // the mean of dz u at a face is that at the middle of its control volume
    const double middle =
        (flow.z(Location::center, k) * flow.grid.dz(k) + flow.z(Location::center, k + 1) * flow.grid.dz(k + 1)) /
        (2 * flow.grid.dz_center(k));
    const auto difference = [&](const GlobalArray& f, double exact) {
      for (std::int64_t j = 0; j < settings.cells[1]; ++j) {
        for (std::int64_t i = 0; i < settings.cells[0]; ++i) error = std::max(error, std::abs(f(i, j, k) - exact));
      }
    };
    difference(force_u, 2 * z * (v(0, 0, center) + 0.2) + 2 * y * 0.4);
    difference(force_v, -2 * z * (u(0, 0, center) - 0.3) - 2 * x * 0.4);
    difference(force_w, 2 * y * (u(0, 0, middle) - 0.3) - 2 * x * (v(0, 0, middle) + 0.2));
  }
  test::expect_at_most("largest error of the force", error, test::round_off(1e-14));
}

INSTANTIATE_TEST_SUITE_P(Axes, CoriolisForce,
                         testing::Combine(testing::Values(streamwise, spanwise, wall_normal, oblique),
                                          testing::Values(Order::second, Order::fourth)));

/// In a plane flow normal to the axis the Coriolis force is a gradient, in the scheme as well: the pressure takes it
/// up, and the velocity does not change.
class PlaneFlow : public testing::TestWithParam<std::tuple<Vector, test::Discretisation>> {};

std::unique_ptr<Flow> plane_flow(const Vector& axis, const Vector& rate, const test::Discretisation& form) {
  FlowCase settings = rotating(rate, form);
  settings.flow.viscosity = 0.01;
  if (axis[0] != 0) settings.cells[0] = 2;
  if (axis[1] != 0) settings.cells[1] = 1;
  // (5) is split exactly only between free-slip walls.
  if (axis[2] != 0 || form.diffusion == Diffusion::implicit_z)
    settings.flow.bottom.kind = settings.flow.top.kind = WallKind::free_slip;
  auto flow = std::make_unique<Flow>(settings);
  const double a = axis[0] != 0 ? 0 : 2 * std::numbers::pi / settings.length_x;
  const double b = axis[1] != 0 ? 0 : 2 * std::numbers::pi / settings.length_y;
  const double c = axis[2] != 0 ? 0 : 1.3;
  const auto wave = [=](std::size_t component) -> test::PointFunction {
    if (axis[component] != 0) return [](double, double, double) { return 0.0; };
    const double phase = 0.3 + static_cast<double>(component);
    return [=](double x, double y, double z) {
      return std::sin(a * x + b * y + c * z + phase) + 0.5 * std::cos(2 * a * x - b * y + c * z * z + phase);
    };
  };
  flow->set_velocity(wave(0), wave(1), wave(2));
  flow->stepper.project(flow->state);
  flow->advance(20, 0.001);
  return flow;
}

TEST_P(PlaneFlow, KeepsItsVelocity) {
  const auto& [axis, form] = GetParam();
  const auto turning = plane_flow(axis, axis, form);
  const auto at_rest = plane_flow(axis, {}, form);
  const auto difference = [&](const auto& field) {
    return largest_difference(turning->read(field(turning->state)), at_rest->read(field(at_rest->state)));
  };
  const double bound = test::round_off(1e-14);
  test::expect_at_most("u", difference([](const State& s) -> const Field& { return s.velocity.u; }), bound);
  test::expect_at_most("v", difference([](const State& s) -> const Field& { return s.velocity.v; }), bound);
  test::expect_at_most("w", difference([](const State& s) -> const Field& { return s.velocity.w; }), bound);
  test::expect_at_least("p", difference([](const State& s) -> const Field& { return s.p; }), 0.1);
}

INSTANTIATE_TEST_SUITE_P(Axes, PlaneFlow,
                         testing::Combine(testing::Values(streamwise, spanwise, wall_normal),
                                          testing::ValuesIn(test::discretisations)));

}  // namespace
}  // namespace sluice
