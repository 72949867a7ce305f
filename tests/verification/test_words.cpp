// The words that a step moves, of each phase, are those of docs/performance.md, What is counted.
#include <gtest/gtest.h>

#include "poisson/tridiagonal/line_plan.hpp"
#include "solver/physics/buoyancy.hpp"
#include "solver/physics/hartmann.hpp"
#include "solver/physics/number_sources.hpp"
#include "solver/physics/rotation.hpp"
#include "solver/time_stepper.hpp"

namespace sluice {
namespace {

constexpr bool on_cpu = false;
constexpr bool on_gpu = true;

FlowParameters flow_of(Diffusion diffusion, int scalars = 0) {
  FlowParameters flow;
  flow.order = Order::second;
  flow.diffusion = diffusion;
  flow.scalars.resize(static_cast<std::size_t>(scalars));
  for (ScalarParameters& scalar : flow.scalars) scalar.name = "c";
  return flow;
}

PhaseWords words(const FlowParameters& flow, bool gpu, LineStrategy lines = LineStrategy::tiles, int py = 1) {
  return TimeStepper::words({64, 48, 48}, {py, 1}, flow, lines, gpu);
}

/// Of all phases.
double sum(const FlowParameters& flow, bool gpu) {
  double sum = 0;
  for (const auto& [phase, count] : words(flow, gpu)) sum += count;
  return sum;
}

TEST(Words, AreThoseOfTheTable) {
  const FlowParameters explicit_ = flow_of(Diffusion::explicit_);
  const FlowParameters implicit_z = flow_of(Diffusion::implicit_z);
  EXPECT_EQ(words(explicit_, on_cpu)[TimedPhase::momentum], 33);
  EXPECT_EQ(words(implicit_z, on_cpu)[TimedPhase::momentum], 36);
  EXPECT_EQ(words(implicit_z, on_gpu)[TimedPhase::momentum], 39);
  EXPECT_EQ(words(implicit_z, on_cpu)[TimedPhase::correction], 9);
  EXPECT_EQ(words(implicit_z, on_gpu)[TimedPhase::implicit_diffusion], 18);
  EXPECT_EQ(words(implicit_z, on_gpu, LineStrategy::condensed)[TimedPhase::implicit_diffusion], 27);
  EXPECT_EQ(words(explicit_, on_gpu, LineStrategy::condensed)[TimedPhase::tridiagonal], 9);
  EXPECT_EQ(words(explicit_, on_gpu)[TimedPhase::transpose], 0);
  EXPECT_EQ(words(explicit_, on_gpu, LineStrategy::tiles, 2)[TimedPhase::transpose], 12);
  EXPECT_EQ(sum(explicit_, on_gpu), 69);
  EXPECT_EQ(sum(implicit_z, on_gpu), 93);
}

/// What each part of a flow adds to a step on a CPU and on a GPU.
TEST(Words, GrowWithEachPartOfAFlow) {
  const auto expect_more = [](double more_on_cpu, double more_on_gpu, int scalars, auto&& add,
                              Diffusion diffusion = Diffusion::explicit_) {
    FlowParameters flow = flow_of(diffusion, scalars);
    const FlowParameters plain = flow;
    add(flow);
    EXPECT_EQ(sum(flow, on_cpu) - sum(plain, on_cpu), more_on_cpu);
    EXPECT_EQ(sum(flow, on_gpu) - sum(plain, on_gpu), more_on_gpu);
  };
  const auto scalar = [](FlowParameters& flow) { flow.scalars.emplace_back(); };
  expect_more(10, 22, 0, scalar);
  expect_more(16, 28, 1, scalar, Diffusion::implicit_z);
  expect_more(9, 9, 1, [](FlowParameters& flow) { flow.scalars[0].source = TermParameters::with(HeldMean{0.5}); });
  expect_more(0, 30, 1, [](FlowParameters& flow) {
    flow.terms.edit<BuoyancyParameters>() = {.scalar = "c", .coefficient = 2, .direction = {0.6, 0, -0.8}};
  });
  // forces that read the velocity keep a GPU from correcting it in the momentum sweep
  constexpr double correction = 21 - 3;
  expect_more(0, 30 + correction, 0,
              [](FlowParameters& flow) { flow.terms.edit<MagneticFieldParameters>().hartmann = 4; });
  expect_more(0, 60 + correction, 0, [](FlowParameters& flow) {
    flow.terms.edit<RotationParameters>().rate = {0.2, 0, 0.3};
  });
  expect_more(correction, correction, 0, [](FlowParameters& flow) {
    flow.forcing = {ForcingKind::power, Formula(0.01)};
  });
  expect_more(3, 3, 0, [](FlowParameters& flow) {
    flow.spanwise_forcing = {ForcingKind::bulk_velocity, Formula(0.1)};
  });
}

}  // namespace
}  // namespace sluice
