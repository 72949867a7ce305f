// A magnetic field normal to the walls: the force, Hartmann's profile, the decay of a uniform flow, the time step. And
// the same force as one that is added to a stepper.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "solver/grid/stretching.hpp"
#include "solver/initial.hpp"
#include "solver/physics/body_force.hpp"
#include "solver/physics/force_loops.hpp"
#include "solver/physics/hartmann.hpp"
#include "solver/physics/terms.hpp"
#include "solver/time_step_limit.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using test::Flow;
using test::FlowCase;
using test::GlobalArray;

FlowCase magnetic(double hartmann, double viscosity, const test::Discretisation& form) {
  FlowCase settings;
  settings.cells = {6, 5, 16};
  settings.flow.viscosity = viscosity;
  settings.flow.terms.edit<MagneticFieldParameters>() = {.hartmann = hartmann};
  settings.flow.diffusion = form.diffusion;
  settings.flow.order = form.order;
  return settings;
}

/// The largest difference of a field from a profile; NaN if there is one.
double largest_error(const Flow& flow, const Field& field, const std::vector<double>& profile) {
  const GlobalArray values = flow.read(field);
  double error = 0;
  for (std::int64_t k = 0; k < values.cells[2]; ++k) {
    for (std::int64_t j = 0; j < values.cells[1]; ++j) {
      for (std::int64_t i = 0; i < values.cells[0]; ++i) {
        const double here = std::abs(values(i, j, k) - profile[static_cast<std::size_t>(k)]);
        if (!(here <= error)) error = here;
      }
    }
  }
  return error;
}

double largest_error(const Flow& flow, const LaminarProfile& profile) {
  return std::max(largest_error(flow, flow.state.velocity.u, profile.u),
                  largest_error(flow, flow.state.velocity.v, profile.v));
}

class Magnetic : public testing::TestWithParam<test::Discretisation> {};

TEST_P(Magnetic, TheForceIsADragOnUAndVAlone) {
  FlowCase settings = magnetic(7, 0.03, GetParam());
  settings.z_nodes = tanh_nodes(16, 2, 2, true);
  Flow flow(settings);
  flow.set_random(5);
  VectorField force(flow.state.p.box(), settings.flow.order);
  VectorField star(flow.state.p.box(), settings.flow.order);
  BodyForces(flow.stepper.metrics(), settings.flow).add(flow.state, flow.state.transported, 0, force, star);
  const auto error = [&](const Field& velocity, const Field& of_force, double factor) {
    const GlobalArray u = flow.read(velocity);
    const GlobalArray f = flow.read(of_force);
    double largest = 0;
    for (std::size_t n = 0; n < u.values.size(); ++n)
      largest = std::max(largest, std::abs(f.values[n] - factor * u.values[n]));
    return largest;
  };
  const double bound = test::round_off(1e-15);
  test::expect_at_most("u", error(flow.state.velocity.u, force.u, -49 * 0.03), bound);
  test::expect_at_most("v", error(flow.state.velocity.v, force.v, -49 * 0.03), bound);
  EXPECT_EQ(error(flow.state.velocity.w, force.w, 0), 0);
}

/// Between walls that move, with each kind of forcing.
TEST_P(Magnetic, TheLaminarFlowIsSteady) {
  for (const ForcingKind kind : {ForcingKind::bulk_velocity, ForcingKind::pressure_gradient, ForcingKind::power}) {
    FlowCase settings = magnetic(5, 0.1, GetParam());
    settings.z_nodes = tanh_nodes(16, 2, 1.6, true);
    settings.flow.forcing = {kind, 1.5};
    settings.flow.bottom.velocity = {-0.1, 0.3, 0};
    settings.flow.top.velocity = {0.3, 0.2, 0};
    Flow flow(settings);
    set_laminar(flow.state, flow.stepper, flow.grid, settings.flow);
    const double force = flow.advance(20, 0.8 * flow.stepper.time_step_limit(flow.state));
    test::expect_at_most("largest change", largest_error(flow, laminar_profile(flow.grid, settings.flow)),
                         test::round_off(1e-14));
    test::expect_at_least("force", force, 0.5);
  }
}

/// G/(nu Ha^2) (1 - cosh(Ha (z - 1))/cosh(Ha)) between z = 0 and 2 (Hartmann 1937).
double exact_profile(double z, double force, double hartmann, double viscosity) {
  return force / (viscosity * hartmann * hartmann) * (1 - std::cosh(hartmann * (z - 1)) / std::cosh(hartmann));
}

TEST_P(Magnetic, AFlowAtRestBecomesHartmannsWithOrder2InDz) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  constexpr double hartmann = 5, viscosity = 0.1, force = 2.5;  // Ha^2 nu = force: u is 1 between the layers
  std::vector<double> sizes, errors;
  for (const std::int64_t nz : {16, 32, 64}) {
    FlowCase settings = magnetic(hartmann, viscosity, GetParam());
    settings.cells[2] = nz;
    settings.z_nodes = tanh_nodes(nz, 2, 1.2, true);
    settings.flow.forcing = {ForcingKind::pressure_gradient, force};
    Flow flow(settings);
    set_zero(flow.state, flow.stepper);
    // The slowest mode decays as exp(-(Ha^2 + (pi/2)^2) nu t).
    const double dt = std::min(0.02, 0.9 * flow.stepper.time_step_limit(flow.state));
    flow.advance(static_cast<int>(5 / dt), dt);
    std::vector<double> exact;
    for (std::int64_t k = 0; k < nz; ++k)
      exact.push_back(exact_profile(flow.z(Location::center, k), force, hartmann, viscosity));
    sizes.push_back(1.0 / static_cast<double>(nz));
    errors.push_back(largest_error(flow, flow.state.velocity.u, exact));
  }
  test::expect_order("u", sizes, errors, 1.9);
  test::expect_at_most("smallest error", errors.back(), 1e-3);
}

/// In a periodic box or, with implicit diffusion, which needs walls, between free-slip walls.
TEST_P(Magnetic, AUniformFlowWithoutFrictionDecaysWithThirdOrderInTime) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  constexpr double hartmann = 3, viscosity = 0.1, time = 2;
  const double decay = std::exp(-hartmann * hartmann * viscosity * time);
  const bool periodic = GetParam().diffusion == Diffusion::explicit_;
  const double w = periodic ? 0.4 : 0;
  std::vector<double> dts, errors;
  for (const int steps : {8, 16, 32, 64}) {
    FlowCase settings = magnetic(hartmann, viscosity, GetParam());
    settings.flow.periodic_z = periodic;
    settings.flow.bottom.kind = settings.flow.top.kind = WallKind::free_slip;
    Flow flow(settings);
    const auto uniform = [](double value) { return [=](double, double, double) { return value; }; };
    flow.set_velocity(uniform(1.3), uniform(-0.6), uniform(w));
    const double dt = time / steps;
    flow.advance(steps, dt);
    dts.push_back(dt);
    const auto constant = [](double value) { return std::vector<double>(16, value); };
    errors.push_back(largest_error(flow, {constant(1.3 * decay), constant(-0.6 * decay)}));
    test::expect_at_most("change of w", largest_error(flow, flow.state.velocity.w, constant(w)),
                         test::round_off(1e-14));
  }
  test::expect_order("velocity", dts, errors, 2.9);
}

/// At the limit that the field sets, a flow decays; above it grows.
TEST_P(Magnetic, TheTimeStepLimitIsThatOfStability) {
  FlowCase settings = magnetic(1e4, 1e-8, GetParam());  // Ha^2 nu = 1
  settings.flow.bottom.kind = settings.flow.top.kind = WallKind::free_slip;
  Flow at_rest(settings);
  const double limit = at_rest.stepper.time_step_limit(at_rest.state);
  const double expected = 1 / 2.51 + diffusive_rate(at_rest.grid, settings.flow);
  test::expect_at_most("dt_lim of a flow at rest, relative error", std::abs(limit * expected - 1),
                       test::round_off(1e-14));
  const auto amplitude = [&](double dt) {
    Flow flow(settings);
    flow.set_velocity([](double, double, double) { return 1e-3; }, [](double, double, double) { return 0.0; },
                      [](double, double, double) { return 0.0; });
    flow.advance(100, dt);
    return largest_error(flow, flow.state.velocity.u, std::vector<double>(16, 0.0)) / 1e-3;
  };
  test::expect_at_most("amplitude after 100 steps of dt_lim", amplitude(limit), 1);
  test::expect_at_least("amplitude after 100 steps of 1.02 dt_lim", amplitude(1.02 * limit), 2);
}

template <class V>
struct DragAtCell {
  static constexpr int words() { return 2 + 2 * Forced::words; }
  V u, v;
  Forced force_u, force_v;
  real rate;
  SLUICE_INLINE void operator()(Cell c) const {
    force_u.add(c, -rate * u(c.i, c.j, c.k));
    force_v.add(c, -rate * v(c.i, c.j, c.k));
  }
};

/// The same force as a code that uses the solver may add it.
struct AddedDrag {
  static constexpr bool reads_velocity = true;
  real rate;

  template <Order, class V, class Action>
  void for_each(const ForceArrays<V>& a, const Action& action) const {
    action("added drag", DragAtCell<V>{a.u, a.v, a.force_u, a.force_v, rate});
  }
};

TEST_P(Magnetic, AForceThatIsAddedGivesTheBitsOfTheTerm) {
  constexpr double hartmann = 7, viscosity = 0.03, rate = hartmann * hartmann * viscosity;
  FlowCase settings = magnetic(hartmann, viscosity, GetParam());
  settings.cells = {16, 9, 16};
  settings.z_nodes = tanh_nodes(16, 2, 2, true);
  settings.flow.forcing = {ForcingKind::bulk_velocity, 0.5};
  Flow with_term(settings);
  settings.flow.terms.remove<MagneticFieldParameters>();
  Flow with_added(settings);
  Flow without(settings);
  const auto add = [&](double of_limit) {
    with_added.stepper.add(std::make_unique<LoopedForce<AddedDrag>>(AddedDrag{static_cast<real>(rate)},
                                                                    with_added.stepper.metrics(), settings.flow.order),
                           of_limit);
  };
  add(rate / 2.51);
  for (Flow* flow : {&with_term, &with_added, &without}) flow->set_random(5);
  const auto limit = [](const Flow& flow) { return flow.stepper.time_step_limit(flow.state); };
  EXPECT_EQ(limit(with_added), limit(with_term));
  EXPECT_LT(limit(with_added), limit(without));
  for (Flow* flow : {&with_term, &with_added, &without}) {
    AdvancingState advancing(std::move(flow->state));
    for (int n = 0; n < 3; ++n) flow->stepper.advance(advancing, 2e-3);
    EXPECT_EQ(flow->stepper.velocity(advancing).any(), !loops_on_gpu || flow == &without);
    flow->state = std::move(flow->stepper.state(advancing));
  }
  const auto fields = with_term.state.fields();
  for (std::size_t n = 0; n < fields.size(); ++n)
    EXPECT_EQ(relative_difference(with_term, fields[n].field, with_added.state.fields()[n].field), 0)
        << fields[n].descriptor.name;
  EXPECT_GT(relative_difference(with_term, with_term.state.velocity.u, without.state.velocity.u), 1e-4)
      << "the force is too weak to be seen";

  EXPECT_THROW(add(-1), Error);
  EXPECT_THROW(with_added.stepper.add(nullptr), Error);
}

INSTANTIATE_TEST_SUITE_P(Forms, Magnetic, testing::ValuesIn(test::discretisations),
                         [](const auto& form) { return test::name_of(form.param); });

constexpr test::Discretisation plain = test::discretisations[0];

TEST(MagneticField, TheLaminarProfileIsSecondOrderInDz) {
  for (const bool stretched : {false, true}) {
    std::vector<double> sizes, errors;
    for (const std::int64_t nz : {64, 128, 256}) {
      FlowCase settings = magnetic(10, 0.02, plain);
      settings.cells = {2, 1, nz};
      if (stretched) settings.z_nodes = tanh_nodes(nz, 2, 2, true);
      settings.flow.forcing = {ForcingKind::pressure_gradient, 3};
      const Flow flow(settings);
      const LaminarProfile profile = laminar_profile(flow.grid, settings.flow);
      double error = 0;
      for (std::int64_t k = 0; k < nz; ++k)
        error = std::max(error, std::abs(profile.u[static_cast<std::size_t>(k)] -
                                         exact_profile(flow.z(Location::center, k), 3, 10, 0.02)));
      sizes.push_back(1.0 / static_cast<double>(nz));
      errors.push_back(error);
    }
    test::expect_order(stretched ? "stretched grid" : "uniform grid", sizes, errors, 1.8);
  }
}

TEST(MagneticField, ALaminarFlowWithoutFrictionIsUniform) {
  FlowCase settings = magnetic(5, 0.1, plain);
  settings.flow.bottom.kind = settings.flow.top.kind = WallKind::free_slip;
  settings.flow.forcing = {ForcingKind::pressure_gradient, 2};
  settings.flow.spanwise_forcing = {ForcingKind::bulk_velocity, 0.3};
  const LaminarProfile profile = laminar_profile(Flow(settings).grid, settings.flow);
  for (std::size_t k = 0; k < profile.u.size(); ++k) {
    EXPECT_NEAR(profile.u[k], 2 / 2.5, 1e-14);
    EXPECT_NEAR(profile.v[k], 0.3, 1e-14);
  }
}

/// The friction velocity that is expected under a given force, or at a given power, leaves the drag its part.
TEST(MagneticField, TheExpectedFrictionAndTheDragBalanceTheForce) {
  for (const ForcingKind kind : {ForcingKind::pressure_gradient, ForcingKind::power}) {
    FlowCase settings = magnetic(10, 1.0 / 2000, plain);
    settings.flow.forcing = {kind, 0.3};
    const Flow flow(settings);
    const TurbulentProfile profile = turbulent_profile(flow.grid, settings.flow);
    double mean = 0;
    for (std::int64_t k = 0; k < 16; ++k) mean += profile.u[static_cast<std::size_t>(k)] * flow.grid.dz(k) / 2;
    const double friction = profile.friction_velocity * profile.friction_velocity;
    const double force = friction + 100.0 / 2000 * mean;
    EXPECT_NEAR(kind == ForcingKind::power ? force * mean : force, 0.3, 1e-12);
    EXPECT_GT(friction, 0.01);
  }
}

/// Half a turn about y keeps the force of Couette flow if the mean of both walls is at rest.
TEST(MagneticField, KnowsItsSymmetries) {
  FlowCase settings = magnetic(5, 0.1, plain);
  settings.flow.bottom.velocity[0] = -1;
  settings.flow.top.velocity[0] = 1;
  EXPECT_TRUE(mean_flow(settings.flow).is_turned);
  EXPECT_TRUE(mean_flow(settings.flow).is_mirrored);
  settings.flow.bottom.velocity[0] = 0;
  EXPECT_FALSE(mean_flow(settings.flow).is_turned);
  settings.flow.terms.remove<MagneticFieldParameters>();
  EXPECT_TRUE(mean_flow(settings.flow).is_turned);
}

}  // namespace
}  // namespace sluice
