// The memory that TimeStepper::memory predicts against what a stepper and its state allocate.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <functional>

#include "core/device/memory.hpp"
#include "core/support/collective.hpp"
#include "solver/physics/buoyancy.hpp"
#include "solver/physics/hartmann.hpp"
#include "solver/physics/number_sources.hpp"
#include "solver/physics/rotation.hpp"
#include "solver/walls/opposition_control.hpp"
#include "solver/walls/wave_actuation.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using test::Flow;
using test::FlowCase;

/// What a flow has beside the momentum equation.
struct Feature {
  const char* name;
  std::function<void(FlowParameters&)> add;
};

const Formula wave = Formula::parse("0.1*sin(pi*x/2 - 30*t)", "xyt");

void add_opposition(FlowParameters& flow) {
  for (WallCondition* wall : {&flow.bottom, &flow.top})
    wall->actuation = make_actuation(opposition_control(), 1, OppositionParameters{0.9});
}

void add_scalars(FlowParameters& flow) {
  flow.scalars = {{"a", 0.7, {ScalarWallKind::value, 1}, {ScalarWallKind::flux, 0.2}},
                  {"b", 3, {ScalarWallKind::value, wave}, {ScalarWallKind::flux, wave}},
                  {"c", 1, {}, {}, TermParameters::with(HeldMean{0.5})}};
}

void add_buoyancy(FlowParameters& flow) {
  flow.scalars = {{"a", 0.7, {ScalarWallKind::value, 1}, {ScalarWallKind::value, 0}}};
  flow.terms.edit<BuoyancyParameters>() = {.scalar = "a", .coefficient = 0.5};
}

void add_varying_walls(FlowParameters& flow) {
  flow.bottom.velocity = {wave, 0.3, Formula::parse("0.05*sin(x + y)", "xyt")};
  flow.bottom.kind = WallKind::slip;
  flow.bottom.slip_length = 0.02;
  flow.top.actuation = make_actuation(oscillation(), 0.2, WaveParameters{.period = 5});
}

void add_power(FlowParameters& flow) {
  flow.forcing = {ForcingKind::power, Formula(0.01)};
}

const std::vector<Feature> features{
    {"nothing", [](FlowParameters&) {}},
    {"free slip", [](FlowParameters& flow) { flow.top.kind = WallKind::free_slip; }},
    {"scalars", add_scalars},
    {"buoyancy", add_buoyancy},
    {"rotation",
     [](FlowParameters& flow) {
       flow.terms.edit<RotationParameters>().rate = {0.2, -0.4, 0.3};
     }},
    {"magnetic field", [](FlowParameters& flow) { flow.terms.edit<MagneticFieldParameters>().hartmann = 4; }},
    {"spanwise forcing",
     [](FlowParameters& flow) {
       flow.spanwise_forcing = {ForcingKind::bulk_velocity, Formula(0.1)};
     }},
    {"given power", add_power},
    {"opposition control", add_opposition},
    {"varying walls", add_varying_walls},
    {"everything",
     [](FlowParameters& flow) {
       add_scalars(flow);
       add_varying_walls(flow);
       add_power(flow);
       add_opposition(flow);
       flow.bottom.velocity[2] = 0;
     }},
    {"whole lines", [](FlowParameters& flow) { flow.tridiagonal = TridiagonalMethod::transpose; }},
    {"periodic", [](FlowParameters& flow) {
       flow.periodic_z = true;
       flow.bottom.kind = flow.top.kind = WallKind::free_slip;
       flow.forcing = {};
     }}};

FlowCase case_of(const test::Discretisation& form, const Feature& feature) {
  FlowCase settings;
  settings.cells = {130, 105, 22};
  settings.z_blocks = 5;
  settings.flow.viscosity = 0.01;
  settings.flow.order = form.order;
  settings.flow.diffusion = form.diffusion;
  settings.flow.forcing = {ForcingKind::bulk_velocity, Formula(1)};
  feature.add(settings.flow);
  return settings;
}

double zero(double, double, double) {
  return 0;
}

/// The prediction leaves out tables with a number for each row, column or plane: less than a plane of one rank.
void expect_prediction(const FlowCase& settings, const std::string& name) {
  const std::size_t before = device::allocated_bytes();
  Flow flow(settings, MPI_COMM_WORLD);
  flow.set_velocity([](double, double, double) { return 1; }, zero, zero);
  device::reset_peak_bytes();
  flow.advance(1, 1e-3);
  const auto counted = static_cast<double>(device::allocated_bytes() - before);
  const auto transient = static_cast<double>(device::peak_bytes() - before) - counted;
  const int rank = flow.comm.rank();
  const double predicted =
      TimeStepper::memory(flow.decomposition, settings.flow, settings.exchange).at(static_cast<std::size_t>(rank));
  const Box3 box = flow.decomposition.x_pencil(rank);
  const auto plane = static_cast<double>(box.extent(0) * box.extent(1)) * sizeof(real);
  const std::string where =
      fmt::format("{}, order {}, {}, {}, {} x {}, rank {}", name, settings.flow.order == Order::fourth ? 4 : 2,
                  test::name_of(settings.flow.diffusion), settings.exchange.text(), settings.processes.py,
                  settings.processes.pz, rank);
  EXPECT_GE(counted, predicted) << where << ": " << (counted - predicted) / plane << " planes";
  EXPECT_LT(counted, predicted + plane) << where << ": " << (counted - predicted) / plane << " planes";
  constexpr double cache = 1 << 20;
  EXPECT_LE(transient, cache) << where;
}

class Memory : public testing::TestWithParam<test::Discretisation> {};

TEST_P(Memory, IsPredictedForEveryFlow) {
  for (const Feature& feature : features) {
    FlowCase settings = case_of(GetParam(), feature);
    if (settings.flow.periodic_z && settings.flow.diffusion == Diffusion::implicit_z) continue;
    for (const ProcessGrid& processes : Decomposition::candidates(settings.cells, size_of(MPI_COMM_WORLD), 5)) {
      settings.processes = processes;
      settings.exchange = "mpi_p2p";
      expect_prediction(settings, feature.name);
    }
  }
}

TEST_P(Memory, IsPredictedForEveryExchange) {
  if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "nothing is sent";
  if (GetParam().order == Order::second) GTEST_SKIP() << "the messages of order 4 are larger";
  std::vector<ExchangeMethods> sets{{"mpi_p2p", "mpi_datatype", "mpi_pipelined"}};
  for (const std::string& method : exchange_candidates(MPI_COMM_WORLD)) {
    // Memory that GPUs share comes in pages of 2 MiB, far more than a plane here.
    if (array_moves(method) != ArrayMoves::shared) sets.emplace_back(method);
  }
  for (const Feature& feature : {features.front(), features.back()}) {
    FlowCase settings = case_of(GetParam(), feature);
    if (settings.flow.periodic_z && settings.flow.diffusion == Diffusion::implicit_z) continue;
    for (const ProcessGrid& processes : Decomposition::candidates(settings.cells, size_of(MPI_COMM_WORLD), 5)) {
      for (const ExchangeMethods& methods : sets) {
        settings.processes = processes;
        settings.exchange = methods;
        expect_prediction(settings, feature.name);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Discretisations, Memory, testing::ValuesIn(test::discretisations_and_implicit),
                         [](const auto& form) { return test::name_of(form.param); });

}  // namespace
}  // namespace sluice
