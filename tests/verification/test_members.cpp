// Flows that are stepped together have the bits that each has alone.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/device/parallel_for.hpp"
#include "core/device/together.hpp"
#include "core/support/error.hpp"
#include "tests/support/flow_case.hpp"
#include "tests/support/physics_cases.hpp"

namespace sluice {

namespace {

using test::Flow;
using test::FlowCase;
using test::Physics;

/// Members of one case with a viscosity, a bulk velocity, a first field and a time step of their own.
std::unique_ptr<Flow> member(FlowCase settings, int n) {
  settings.flow.viscosity *= 1 + 0.05 * n;
  settings.flow.forcing.value = Formula(0.4 + 0.02 * n);
  auto flow = std::make_unique<Flow>(settings);
  flow->set_random(5 + static_cast<std::uint64_t>(n));
  for (TransportedField& scalar : flow->state.transported)
    flow->set(scalar.field, [n](double x, double y, double z) { return std::sin(1e4 * (x + 2 * y + 3 * z + n)); });
  flow->stepper.fill_halos(flow->state);
  return flow;
}

/// The length of each step is found from the flow, as in a run.
void advance(Flow& flow, int steps) {
  AdvancingState advancing(std::move(flow.state));
  for (int n = 0; n < steps; ++n) {
    const double rate =
        n == 0 ? flow.stepper.largest_rate(flow.stepper.state(advancing)) : flow.stepper.reduce_rate_of_step();
    flow.stepper.advance(advancing, 0.4 * flow.stepper.time_step_limit(rate));
  }
  flow.state = std::move(flow.stepper.state(advancing));
}

void expect_equal(const std::string& name, const Flow& flow, const Flow& other) {
  EXPECT_EQ(flow.state.time, other.state.time) << name;
  const auto fields = flow.state.fields();
  const auto others = other.state.fields();
  for (std::size_t n = 0; n < fields.size(); ++n)
    EXPECT_EQ(fields[n].field.buffer().download(), others[n].field.buffer().download())
        << name << ": " << fields[n].descriptor.name;
}

class Members : public testing::TestWithParam<test::Discretisation> {};

TEST_P(Members, HaveTheBitsOfSingleFlows) {
  constexpr int count = 3;
  constexpr std::array<std::array<std::int64_t, 3>, 4> grids{{{17, 9, 14}, {64, 12, 17}, {48, 32, 24}, {32, 48, 90}}};
  // A CPU build runs the loops of each member at once, so that nothing depends on the kernels.
  const std::vector<Physics> chosen = loops_on_gpu
                                          ? std::vector<Physics>(test::all_physics.begin(), test::all_physics.end())
                                          : std::vector<Physics>{Physics::all};
  for (const Physics physics : chosen) {
    for (const auto& cells : grids) {
      const FlowCase settings = test::settings_for(GetParam(), physics, cells);
      std::vector<std::unique_ptr<Flow>> together;
      std::vector<std::function<void()>> tasks;
      for (int n = 0; n < count; ++n) {
        Flow& flow = *together.emplace_back(member(settings, n));
        tasks.emplace_back([&flow] { advance(flow, 3); });
      }
      device::run_together(tasks);
      for (int n = 0; n < count; ++n) {
        const auto alone = member(settings, n);
        advance(*alone, 3);
        expect_equal(test::name_of(GetParam()) + ", " + name_of(physics) + ", " + std::to_string(cells[0]) +
                         " cells along x, member " + std::to_string(n),
                     *alone, *together[static_cast<std::size_t>(n)]);
      }
    }
  }
}

/// One that takes more steps, or fails, does not change the others.
TEST_P(Members, DoNotDependOnEachOther) {
  const FlowCase settings = test::settings_for(GetParam(), Physics::all, {64, 12, 17});
  std::vector<std::unique_ptr<Flow>> together;
  std::vector<std::function<void()>> tasks;
  for (int n = 0; n < 4; ++n) {
    Flow& flow = *together.emplace_back(member(settings, n));
    tasks.emplace_back([&flow, n] {
      advance(flow, 1 + n);
      if (n == 1) throw Error(ExitCode::numerics, "the member fails");
      flow.stepper.diagnose(flow.state);
      advance(flow, 2);
    });
  }
  EXPECT_THROW(device::run_together(tasks), Error);
  for (int n = 0; n < 4; ++n) {
    const auto alone = member(settings, n);
    advance(*alone, 1 + n);
    if (n != 1) advance(*alone, 2);
    expect_equal("member " + std::to_string(n), *alone, *together[static_cast<std::size_t>(n)]);
  }
}

INSTANTIATE_TEST_SUITE_P(Discretisations, Members, testing::ValuesIn(test::discretisations_and_implicit),
                         [](const auto& info) { return test::name_of(info.param); });

}  // namespace

}  // namespace sluice
