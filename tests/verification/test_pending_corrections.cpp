// A state is always corrected; and everything that reads the velocity at the start of a substep gets the same values,
// whether the step before left its correction or not.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/device/parallel_for.hpp"
#include "solver/physics/body_force.hpp"
#include "solver/physics/number_sources.hpp"
#include "solver/physics/terms.hpp"
#include "solver/transport/scalar_sweep.hpp"
#include "tests/support/flow_case.hpp"
#include "tests/support/physics_cases.hpp"

namespace sluice {

/// A flow as it is in memory.
struct AdvancingStateAccess {
  static State& stored(AdvancingState& flow) { return flow.state_; }
  static std::optional<PendingCorrection>& left(AdvancingState& flow) { return flow.left_; }
};

namespace {

// What may not be corrected has no name to read it by.
template <class T>
concept HasVelocity = requires(const T& flow) {
  flow.velocity;
};
template <class T>
concept HasComponents = requires(const T& velocity) {
  velocity.u;
};
static_assert(HasVelocity<State> && !HasVelocity<AdvancingState>);
static_assert(HasComponents<CorrectedVelocity> && !HasComponents<VelocityToCorrect>);
static_assert(!std::is_convertible_v<VelocityToCorrect, CorrectedVelocity>);
static_assert(std::is_convertible_v<const State&, VelocityToCorrect>);
static_assert(!std::is_constructible_v<VelocityToCorrect, const AdvancingState&>);
static_assert(!std::is_constructible_v<VelocityToCorrect, const VectorField&>);
static_assert(!std::is_constructible_v<CorrectedVelocity, View3<const real>, View3<const real>, View3<const real>>);
// Numbers, and the address of device memory that the stepper keeps: it stays true when a state or its stepper moves.
static_assert(std::is_trivially_copyable_v<PendingCorrection> &&
              sizeof(PendingCorrection) == 2 * sizeof(real) + sizeof(real*) + 4 * sizeof(int));

using test::all_physics;
using test::begin;
using test::Flow;
using test::FlowCase;
using test::Physics;
using test::relative_difference;
using test::settings_for;

void expect_equal(const std::string& name, const Flow& flow, const Flow& other, double bound) {
  const auto fields = flow.state.fields();
  const auto others = other.state.fields();
  for (std::size_t n = 0; n < fields.size(); ++n) {
    const double of_field = n == pressure_field ? 100 * bound : bound;
    test::expect_at_most(name + ": " + fields[n].descriptor.name,
                         relative_difference(flow, fields[n].field, others[n].field), of_field);
  }
}

// Rows of one tile of a GPU's momentum sweep and of several.
constexpr std::array<std::array<std::int64_t, 3>, 4> grids{{{17, 9, 14}, {64, 12, 17}, {72, 20, 9}, {2, 8, 4}}};

class PendingCorrections : public testing::TestWithParam<test::Discretisation> {};

/// Whatever a step leaves, the state that is handed out is free of divergence.
TEST_P(PendingCorrections, AreAppliedToAStateThatIsHandedOut) {
  for (const Physics physics : all_physics) {
    Flow flow(settings_for(GetParam(), physics, grids[1]));
    begin(flow);
    TimeStepper& stepper = flow.stepper;
    AdvancingState advancing(std::move(flow.state));
    for (int n = 0; n < 3; ++n) {
      stepper.advance(advancing, 2e-3);
      const bool left_any = stepper.velocity(advancing).any();
      EXPECT_EQ(left_any, !(loops_on_gpu && BodyForces({}, flow.settings.flow).read_velocity()));
      if (left_any) {
        EXPECT_THROW(stepper.velocity(advancing).corrected(), Error);
        const double uncorrected = stepper.diagnose(AdvancingStateAccess::stored(advancing)).max_divergence;
        EXPECT_GT(uncorrected, 1e-3) << "the correction is too small to be seen";
      }
      const State& state = stepper.state(advancing);
      test::expect_at_most(test::name_of(GetParam()) + ", " + name_of(physics) + ": div u",
                           stepper.diagnose(state).max_divergence, test::round_off(1e-11));
      EXPECT_FALSE(stepper.velocity(advancing).any());
      EXPECT_EQ(&stepper.state(advancing), &state);
    }
  }
}

/// Only the stepper that left a correction can apply it, and only until it uses its phi for another flow.
TEST_P(PendingCorrections, AreRefusedWhenTheyAreLost) {
  const FlowCase settings = settings_for(GetParam(), Physics::scalars, grids[1]);
  Flow flow(settings);
  Flow other(settings);
  begin(flow);
  begin(other);
  AdvancingState advancing(std::move(flow.state));
  flow.stepper.advance(advancing, 2e-3);
  ASSERT_TRUE(flow.stepper.velocity(advancing).any());
  EXPECT_THROW(other.stepper.state(advancing), Error);
  EXPECT_THROW(other.stepper.advance(advancing, 2e-3), Error);
  flow.stepper.advance(advancing, 2e-3);
  flow.stepper.project(other.state);
  EXPECT_THROW(flow.stepper.state(advancing), Error);
  EXPECT_THROW(flow.stepper.advance(advancing, 2e-3), Error);
}

/// The state comes back from a step that throws.
TEST_P(PendingCorrections, AStepThatThrowsReturnsTheState) {
  FlowCase settings = settings_for(GetParam(), Physics::scalars, grids[1]);
  settings.flow.forcing.value = Formula::parse("0.4 + 0 * sqrt(0.003 - t)", "t");  // not finite in the second step
  Flow flow(settings);
  begin(flow);
  flow.stepper.step(flow.state, 2e-3);
  const double divergence = flow.stepper.diagnose(flow.state).max_divergence;
  EXPECT_THROW(flow.stepper.step(flow.state, 2e-3), Error);
  EXPECT_EQ(flow.state.step, 1);
  EXPECT_EQ(flow.stepper.diagnose(flow.state).max_divergence, divergence);
}

/// As in test_momentum_sweeps: asking for the state after each step changes no bit, and substeps by themselves, which
/// leave nothing, give the same bits on a CPU.
TEST_P(PendingCorrections, ChangeNoBit) {
  for (const Physics physics : all_physics) {
    for (const auto& cells : grids) {
      const FlowCase settings = settings_for(GetParam(), physics, cells);
      Flow pending(settings);
      Flow completed(settings);
      Flow in_substeps(settings);
      for (Flow* flow : {&pending, &completed, &in_substeps}) begin(*flow);
      AdvancingState advancing(std::move(pending.state));
      constexpr double dt = 2e-3;
      bool left_any = false;
      for (int n = 0; n < 3; ++n) {
        pending.stepper.advance(advancing, dt);
        left_any = left_any || pending.stepper.velocity(advancing).any();
        completed.stepper.step(completed.state, dt);
        for (int k = 0; k < Rk3::substeps; ++k) in_substeps.stepper.substep(in_substeps.state, dt, k);
        in_substeps.state.time += dt;
      }
      const bool reads_alone = BodyForces({}, settings.flow).read_velocity();
      const int reach = reach_of(GetParam().order);
      constexpr int piece = 16 / sizeof(real);  // numbers that a GPU copies together
      const bool suits_gpu = cells[0] % piece == 0 && cells[0] >= (reach + piece - 1) / piece * piece && !reads_alone;
      EXPECT_EQ(left_any, cells[1] > 2 * reach && (!loops_on_gpu || suits_gpu));
      pending.state = std::move(pending.stepper.state(advancing));
      const std::string name = test::name_of(GetParam()) + ", " + name_of(physics) + ", " + std::to_string(cells[0]) +
                               " x " + std::to_string(cells[1]);
      expect_equal(name + ", completed each step", pending, completed, 0);
      expect_equal(name + ", substeps", pending, in_substeps, loops_on_gpu ? test::round_off(1e-13) : 0);
    }
  }
}

ScalarArrays arrays_of(const Flow& flow, const VelocityToCorrect& velocity, const State& state, std::size_t n,
                       Field& tendency, Field& star) {
  return {.c = state.transported[n].field.view(),
          .tendency = tendency.view(),
          .star = star.view(),
          .m = flow.stepper.metrics(),
          .kappa = real(0.02),
          .uniform_source = real(0.3),
          .streamwise_source = real(0.8),
          .alpha_dt = real(0.5),
          .beta_dt = real(-0.2),
          .half_kappa_gamma_dt = real(0.003),
          .velocity = velocity};
}

double old_tendency(double x, double y, double z) {
  return 5 * std::cos(x - 2 * y + 3 * z);
}

/// The same bits from u* and phi as from u.
TEST_P(PendingCorrections, AreAppliedByTheSweepOfAScalar) {
  const auto [diffusion, order] = GetParam();
  const bool implicit_z = diffusion == Diffusion::implicit_z;
  for (const auto& cells : {grids[1], grids[2]}) {
    Flow flow(settings_for(GetParam(), Physics::scalars, cells));
    begin(flow);
    AdvancingState advancing(std::move(flow.state));
    flow.stepper.advance(advancing, 2e-3);
    ASSERT_TRUE(flow.stepper.velocity(advancing).any());
    const State& stored = AdvancingStateAccess::stored(advancing);
    const Box3& box = advancing.box();
    for (const bool first : {false, true}) {
      const auto sweep = [&](Field& tendency, Field& star) {
        flow.set(star, old_tendency);
        sweep_scalar(arrays_of(flow, flow.stepper.velocity(advancing), stored, 0, tendency, star),
                     box_of(box.nx(), box.ny(), box.nz()), {order, first, implicit_z});
      };
      const FieldDescriptor& descriptor = stored.transported[0].descriptor;
      Field tendency = make_field(descriptor, box, order);
      Field star = make_field(descriptor, box, order);
      Field ignored_tendency = make_field(descriptor, box, order);
      Field ignored_star = make_field(descriptor, box, order);
      Field completed_tendency = make_field(descriptor, box, order);
      Field completed_star = make_field(descriptor, box, order);
      sweep(tendency, star);
      const auto left = std::exchange(AdvancingStateAccess::left(advancing), std::nullopt);
      sweep(ignored_tendency, ignored_star);
      AdvancingStateAccess::left(advancing) = left;
      flow.stepper.state(advancing);
      sweep(completed_tendency, completed_star);
      EXPECT_EQ(relative_difference(flow, tendency, completed_tendency), 0);
      EXPECT_EQ(relative_difference(flow, star, completed_star), 0);
      EXPECT_GT(relative_difference(flow, tendency, ignored_tendency), 1e-6)
          << "the correction is too small to be seen";
      flow.stepper.advance(advancing, 2e-3);
    }
  }
}

/// The tasks of a CPU's momentum sweep, with nothing left to correct, against loops over whole arrays.
TEST_P(PendingCorrections, TasksEqualSweepsOfTheirOwn) {
  if (!Momentum::runs_tasks) GTEST_SKIP() << "only a CPU's momentum sweep runs tasks";
  const auto [diffusion, order] = GetParam();
  const bool implicit_z = diffusion == Diffusion::implicit_z;
  for (const auto& cells : grids) {
    Flow flow(settings_for(GetParam(), Physics::all, cells));
    begin(flow);
    const Box3& box = flow.state.p.box();
    const BodyForces forces(flow.stepper.metrics(), flow.settings.flow);
    const SubstepWeights weights{0.5, -0.2, 0.3, implicit_z ? 0.002 : 0};
    VectorField tendency(box, order), star(box, order), own_tendency(box, order), own_star(box, order);
    const FieldDescriptor& descriptor = flow.state.transported[1].descriptor;
    Field c_tendency = make_field(descriptor, box, order);
    Field c_star = make_field(descriptor, box, order);
    Field own_c_tendency = make_field(descriptor, box, order);
    Field own_c_star = make_field(descriptor, box, order);
    for (Field* f : {&star.u, &star.v, &star.w, &own_star.u, &own_star.v, &own_star.w, &c_star, &own_c_star})
      flow.set(*f, old_tendency);

    RowTasks tasks{scalar_row_task(arrays_of(flow, flow.state, flow.state, 1, c_tendency, c_star), box.nx(),
                                   {order, false, implicit_z})};
    forces.append_tasks(flow.state.transported, weights.alpha_dt, tendency, star, tasks);
    flow.stepper.momentum().predict(flow.state, flow.state.p, weights, tendency, star, {.tasks = tasks});

    flow.stepper.momentum().predict(flow.state, flow.state.p, weights, own_tendency, own_star);
    forces.add(flow.state, flow.state.transported, weights.alpha_dt, own_tendency, own_star);
    sweep_scalar(arrays_of(flow, flow.state, flow.state, 1, own_c_tendency, own_c_star),
                 box_of(box.nx(), box.ny(), box.nz()), {order, false, implicit_z});

    EXPECT_EQ(relative_difference(flow, tendency.u, own_tendency.u), 0);
    EXPECT_EQ(relative_difference(flow, tendency.v, own_tendency.v), 0);
    EXPECT_EQ(relative_difference(flow, tendency.w, own_tendency.w), 0);
    EXPECT_EQ(relative_difference(flow, star.u, own_star.u), 0);
    EXPECT_EQ(relative_difference(flow, star.v, own_star.v), 0);
    EXPECT_EQ(relative_difference(flow, star.w, own_star.w), 0);
    EXPECT_EQ(relative_difference(flow, c_tendency, own_c_tendency), 0);
    EXPECT_EQ(relative_difference(flow, c_star, own_c_star), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Discretisations, PendingCorrections, testing::ValuesIn(test::discretisations),
                         [](const auto& form) { return test::name_of(form.param); });

}  // namespace
}  // namespace sluice
