// A step's largest advective rate is reduced over the ranks once, however many parts of a run ask for it: counted at
// MPI's profiling interface.
#include <gtest/gtest.h>
#include <mpi.h>

#include "core/support/collective.hpp"
#include "io/case/case_file.hpp"
#include "src/outputs/observer.hpp"
#include "src/run/setup.hpp"
#include "src/run/simulation.hpp"

namespace {

int reductions = 0;

}  // namespace

extern "C" {

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
  ++reductions;
  return PMPI_Allreduce(send, receive, count, type, operation, comm);
}

}  // extern "C"

namespace sluice {
namespace {

constexpr const char* case_text = R"(
title: A short channel
flow: {type: channel, reynolds: {bulk: 5600}}
domain: {size: [2*pi, pi, 2]}
grid: {cells: [16, 12, 32]}
time: {steps: 4, cfl: 0.9}
)";

template <class Action>
int reductions_of(const Action& action) {
  const int before = reductions;
  action();
  return reductions - before;
}

class RateReductions : public testing::Test {
 protected:
  RateReductions() { simulation_.initialise(); }

  int reductions_of_rate() {
    return reductions_of([this] { simulation_.advective_rate(); });
  }

  const io::Case settings_ = io::parse_case(case_text, "case.yaml", {}, "/");
  Simulation simulation_{settings_, make_grid(settings_, ""), {{1, size_of(MPI_COMM_WORLD)}, {}}, MPI_COMM_WORLD};
};

TEST_F(RateReductions, ARateIsReducedOnceInEveryStep) {
  for (int step = 0; step < 3; ++step) {
    EXPECT_EQ(reductions_of_rate(), 1) << "step " << step;
    const double rate = simulation_.advective_rate();
    EXPECT_GT(rate, 0);
    EXPECT_EQ(reductions_of([this] { simulation_.stable_dt(); }), 0);
    EXPECT_EQ(reductions_of([this] { simulation_.next_dt(); }), 0);
    EXPECT_EQ(simulation_.advective_rate(), rate);
    simulation_.advance();
    EXPECT_NE(simulation_.advective_rate(), rate);
    simulation_.advance();
  }
}

TEST_F(RateReductions, AReplacedStateHasAnotherRate) {
  simulation_.advance();
  simulation_.advance();
  const double rate = simulation_.advective_rate();
  simulation_.state();
  simulation_.state_replaced();
  EXPECT_EQ(reductions_of_rate(), 1);
  EXPECT_NE(simulation_.advective_rate(), rate);  // of the velocity now, not one substep earlier
  simulation_.restored_at(rate);
  EXPECT_EQ(reductions_of_rate(), 0);
  EXPECT_EQ(simulation_.advective_rate(), rate);
}

TEST_F(RateReductions, DiagnosticsReduceTheRateOnce) {
  FlowView flow(simulation_);
  for (int step = 0; step < 3; ++step) {
    simulation_.advance();
    const State& now = flow.state();
    const int own = reductions_of([&] { simulation_.stepper.diagnose(now); });
    EXPECT_EQ(reductions_of([&] { flow.diagnostics(); }), own + 1) << "step " << step;
    EXPECT_EQ(reductions_of([&] { flow.diagnostics(); }), 0) << "step " << step;
    EXPECT_EQ(reductions_of_rate(), 0) << "step " << step;
  }
}

}  // namespace
}  // namespace sluice
