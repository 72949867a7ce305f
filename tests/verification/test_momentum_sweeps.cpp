// The fused momentum sweep against the plain loops, one equation each, and its two forms of diffusion against
// each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/device/parallel_for.hpp"
#include "solver/grid/stretching.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using test::Flow;
using test::FlowCase;
using test::GlobalArray;

FlowCase settings_for(const test::Discretisation& form, std::array<std::int64_t, 3> cells) {
  FlowCase settings;
  settings.cells = cells;
  settings.z_nodes = tanh_nodes(cells[2], 2, 1.9, true);
  settings.grid_velocity = 0.35;
  settings.flow.viscosity = 0.013;
  settings.flow.bottom.velocity[0] = -0.4;
  settings.flow.top.velocity[1] = 0.3;
  settings.flow.diffusion = form.diffusion;
  settings.flow.order = form.order;
  return settings;
}

double largest_difference(const Flow& flow, const VectorField& a, const VectorField& b) {
  return std::max({test::relative_difference(flow, a.u, b.u), test::relative_difference(flow, a.v, b.v),
                   test::relative_difference(flow, a.w, b.w)});
}

/// Two tendencies and u* that start from the same old tendency.
void compare_sweeps(const test::Discretisation& form, const SubstepWeights& weights,
                    std::array<std::int64_t, 3> cells) {
  Flow flow(settings_for(form, cells));
  flow.set_random(3);
  flow.set(flow.state.p, [](double x, double y, double z) { return std::sin(3 * x + y * z) + x * z; });
  flow.stepper.fill_halos(flow.state);
  const Box3& box = flow.state.p.box();
  const Order order = form.order;
  VectorField tendency(box, order), star(box, order), plain_tendency(box, order), plain_star(box, order);
  const auto old = [](double x, double y, double z) { return 5 * std::cos(x - 2 * y + 3 * z); };
  for (Field* f : {&plain_star.u, &plain_star.v, &plain_star.w}) flow.set(*f, old);
  flow.stepper.momentum().predict_plain(flow.state, weights, plain_tendency, plain_star);
  // A GPU may contract other products into fused multiply-adds in each form.
  const double bound = loops_on_gpu ? test::round_off(1e-13) : 0;
  for (const SweepTiles tiles : {SweepTiles::small, SweepTiles::large}) {
    for (Field* f : {&star.u, &star.v, &star.w}) flow.set(*f, old);
    flow.stepper.momentum().predict(flow.state, flow.state.p, weights, tendency, star, {.tiles = tiles});
    const std::string name = test::name_of(form) + (weights.beta_dt == 0 ? ", first" : ", later") + " substep, " +
                             (tiles == SweepTiles::large ? "large" : "small") + " tiles";
    test::expect_at_most(name + ": R, fused - plain", largest_difference(flow, tendency, plain_tendency), bound);
    test::expect_at_most(name + ": u*, fused - plain", largest_difference(flow, star, plain_star), bound);
    if (!loops_on_gpu) break;
  }
}

class MomentumSweeps : public testing::TestWithParam<test::Discretisation> {};

TEST_P(MomentumSweeps, FusedEqualsPlain) {
  const double c = GetParam().diffusion == Diffusion::implicit_z ? 0.002 : 0;
  // On a GPU: lengths that it does not march over, then one tile and several, the last one cut off in x and in y, and
  // several columns in z.
  using Cells = std::array<std::int64_t, 3>;
  for (const Cells& cells :
       {Cells{17, 9, 14}, Cells{2, 1, 4}, Cells{4, 1, 20}, Cells{64, 9, 33}, Cells{136, 6, 40}, Cells{72, 5, 17}}) {
    compare_sweeps(GetParam(), {0.5, 0, 0.3, c}, cells);
    compare_sweeps(GetParam(), {0.5, -0.2, 0.3, c}, cells);
  }
}

/// The velocity and pressure of two flows of the same case.
void expect_equal(const std::string& name, const Flow& flow, const Flow& other, double bound) {
  test::expect_at_most(name + ": u", largest_difference(flow, flow.state.velocity, other.state.velocity), bound);
  const GlobalArray p = flow.read(flow.state.p);
  const GlobalArray q = other.read(other.state.p);
  double difference = 0;
  double size = 0;
  for (std::size_t n = 0; n < p.values.size(); ++n) {
    difference = std::max(difference, std::abs(p.values[n] - q.values[n]));
    size = std::max(size, std::abs(p.values[n]));
  }
  test::expect_at_most(name + ": p", difference / size, 100 * bound);
}

/// TimeStepper::advance corrects only a rim of the velocity; the sweep of the next substep corrects the rest while it
/// reads it. Substeps by themselves correct all of it at once, and state() in between changes no bit, not on a GPU
/// either.
TEST_P(MomentumSweeps, FormTheVelocityThatACorrectionWouldLeave) {
  using Cells = std::array<std::int64_t, 3>;
  for (const Cells& cells :
       {Cells{17, 9, 14}, Cells{6, 1, 4}, Cells{12, 7, 3}, Cells{64, 12, 33}, Cells{136, 20, 40}, Cells{72, 9, 17}}) {
    FlowCase settings = settings_for(GetParam(), cells);
    settings.flow.forcing = {ForcingKind::bulk_velocity, 0.4};
    settings.flow.spanwise_forcing = {ForcingKind::bulk_velocity, 0.2};
    Flow pending(settings);
    Flow completed(settings);
    Flow in_substeps(settings);
    for (Flow* flow : {&pending, &completed, &in_substeps}) flow->set_random(5);
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
    EXPECT_EQ(left_any,
              cells[1] > 2 * reach_of(GetParam().order) && (!loops_on_gpu || cells[0] >= 64 || cells[0] == 12));
    pending.state = std::move(pending.stepper.state(advancing));
    const std::string name =
        test::name_of(GetParam()) + ", " + std::to_string(cells[0]) + " x " + std::to_string(cells[1]);
    expect_equal(name + ", completed each step", pending, completed, 0);
    expect_equal(name + ", substeps", pending, in_substeps, loops_on_gpu ? test::round_off(1e-13) : 0);
  }
}

/// The old tendency must not be read in the first substep: it may hold anything.
TEST_P(MomentumSweeps, FirstSubstepIgnoresTheOldTendency) {
  Flow flow(settings_for(GetParam(), {12, 6, 10}));
  flow.set_random(3);
  const Box3& box = flow.state.p.box();
  const Order order = GetParam().order;
  VectorField tendency(box, order), star(box, order), clean(box, order);
  const auto nan = [](double, double, double) { return std::nan(""); };
  for (Field* f : {&star.u, &star.v, &star.w}) flow.set(*f, nan);
  flow.stepper.momentum().predict(flow.state, flow.state.p, {0.5, 0, 0.3, 0}, tendency, star);
  flow.stepper.momentum().predict(flow.state, flow.state.p, {0.5, 0, 0.3, 0}, tendency, clean);
  EXPECT_EQ(largest_difference(flow, star, clean), 0);
}

/// R with implicit z diffusion and the Crank-Nicolson part, weighted so that both halves are taken in full,
/// is R of the explicit form: nothing is left out and nothing is counted twice.
class PartsOfDiffusion : public testing::TestWithParam<Order> {};

TEST_P(PartsOfDiffusion, AddUpToTheWhole) {
  const Order order = GetParam();
  const FlowCase settings = settings_for({Diffusion::explicit_, order}, {12, 6, 10});
  Flow with_all(settings);
  Flow with_split(settings_for({Diffusion::implicit_z, order}, {12, 6, 10}));
  with_all.set_random(3);
  with_split.set_random(3);
  const Box3& box = with_all.state.p.box();
  VectorField tendency(box, order), all(box, order), split(box, order);
  with_all.stepper.momentum().predict(with_all.state, with_all.state.p, {1, 0, 0, 0}, tendency, all);
  with_split.stepper.momentum().predict(with_split.state, with_split.state.p, {1, 0, 0, settings.flow.viscosity},
                                        tendency, split);
  // The plane of w on the top wall is not an unknown.
  for (VectorField* star : {&all, &split}) with_all.stepper.walls().apply_normal(star->w);
  test::expect_at_most("u + R: explicit - split", largest_difference(with_all, all, split), test::round_off(1e-14));
}

INSTANTIATE_TEST_SUITE_P(Discretisations, MomentumSweeps, testing::ValuesIn(test::discretisations),
                         [](const auto& form) { return test::name_of(form.param); });
INSTANTIATE_TEST_SUITE_P(Orders, PartsOfDiffusion, testing::Values(Order::second, Order::fourth),
                         [](const auto& order) { return test::name_of(order.param); });

}  // namespace
}  // namespace sluice
