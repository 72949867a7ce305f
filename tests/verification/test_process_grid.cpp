// A run gives the same bits on every process grid: fields, forcing, diagnostics, statistics, spectra and densities
// against the same program on one process.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/device/memory.hpp"
#include "core/support/collective.hpp"
#include "solver/grid/stretching.hpp"
#include "solver/initial.hpp"
#include "solver/physics/buoyancy.hpp"
#include "solver/physics/hartmann.hpp"
#include "solver/physics/number_sources.hpp"
#include "solver/physics/rotation.hpp"
#include "solver/statistics/densities.hpp"
#include "solver/statistics/statistics.hpp"
#include "solver/walls/opposition_control.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using test::Flow;
using test::FlowCase;
using test::GlobalArray;

/// All that a few steps produce.
struct Outcome {
  struct Part {
    std::string name;
    std::vector<double> values;
    double largest = 0;  ///< absolute value, of this part or of those beside it
  };
  std::vector<Part> parts;  ///< the fields first

  void add(std::vector<Part> together) {
    double largest = 0;
    for (const Part& part : together) largest = std::max(largest, test::largest(part.values));
    for (Part& part : together) parts.emplace_back(std::move(part)).largest = largest;
  }
};

Outcome run(const FlowCase& settings, MPI_Comm world) {
  Flow flow(settings, world);
  State& state = flow.state;
  set_turbulent(state, flow.stepper, flow.grid, settings.flow, 11, flow.comm.world());
  set_scalars(state, flow.stepper, flow.grid, settings.flow);
  Statistics statistics(flow.grid, flow.stepper.metrics(), settings.flow, flow.stepper.walls(), state.p.box(),
                        {.budgets = true, .phases = {3, 0.05}}, flow.comm.world());
  Spectra spectra(settings.flow, flow.comm, flow.decomposition, planes_nearest_to({0, 0.1, 0.5, 1.0, 1.9}, flow.grid));
  Densities densities(flow.grid, flow.stepper.metrics(), settings.flow, flow.stepper.walls(), state.p.box(),
                      {0, settings.cells[2] / 2, settings.cells[2]}, flow.comm.world());
  std::vector<double> numbers;
  for (int n = 0; n < 3; ++n) {
    const double limit = flow.stepper.time_step_limit(state);
    const MeanForce force = flow.stepper.step(state, 0.9 * limit);
    const Diagnostics d = flow.stepper.diagnose(state);
    statistics.sample(state, force.x);
    flow.stepper.sample(state, force.x, spectra);
    densities.sample(state, force.x);
    for (const double value : {limit, force.x, force.y, force.power, d.bulk_velocity, d.kinetic_energy,
                               d.max_divergence, d.shear_bottom, d.shear_top}) {
      numbers.push_back(value);
    }
    for (const NamedValue& further : d.further) numbers.push_back(further.value);
  }
  Outcome outcome;
  for (const auto& [descriptor, field] : state.fields()) outcome.add({{descriptor.name, flow.read(field).values}});
  outcome.add({{"forces, time step limits and diagnostics", numbers}});
  for (const BlockSums* sampler : {static_cast<const BlockSums*>(&statistics), static_cast<const BlockSums*>(&spectra),
                                   static_cast<const BlockSums*>(&densities)}) {
    std::vector<Outcome::Part> profiles;
    const bool on_every_rank = sampler == &statistics;  // the others are on rank 0
    for (std::size_t n = 0; n < sampler->profiles().size(); ++n) {
      std::vector<double> sums(static_cast<std::size_t>(sampler->profiles()[n].length(settings.cells)));
      if (on_every_rank || flow.comm.rank() == 0) sums = sampler->open_block().sums[n];
      if (!on_every_rank) MPI_Bcast(sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, 0, flow.comm.world());
      profiles.push_back({sampler->profiles()[n].name, std::move(sums)});
    }
    outcome.add(std::move(profiles));
  }
  return outcome;
}

/// A mixture of this build's methods, and, if `all`, every method for all traffic.
std::vector<ExchangeMethods> method_sets(bool all) {
  const std::vector<std::string>& names = exchange_methods();
  std::vector<ExchangeMethods> sets{ExchangeMethods(names.back(), names[0], names[1])};
  if (all) sets.insert(sets.end(), names.begin(), names.end());
  return sets;
}

/// Number of values whose bits differ; on GPUs, where FFTs and the systems along z depend on what a rank owns, number
/// of those that differ by more than rounding, against the largest.
std::size_t differences(const Outcome::Part& a, const Outcome::Part& b) {
  EXPECT_EQ(a.values.size(), b.values.size());
  const double bound = test::round_off(1e-11) * a.largest;
  std::size_t count = 0;
  for (std::size_t n = 0; n < a.values.size(); ++n) {
    const double one = a.values[n];
    const double other = b.values[n];
    const bool same = device::is_gpu() ? std::abs(one - other) <= bound : std::memcmp(&one, &other, sizeof one) == 0;
    count += same ? 0 : 1;
  }
  EXPECT_EQ(count, 0u) << "values of " << a.name << " that differ, by up to "
                       << test::largest_difference(a.values, b.values) << " of " << a.largest;
  return count;
}

int world_size() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// Sizes with walls of their own: what a rank does at a wall depends on the process grid.
struct Size {
  const char* name;
  std::array<std::int64_t, 3> cells;
  int z_blocks;
  WallCondition bottom, top;
  Order order = Order::second;
  double grid_velocity = 0;
  RotationParameters rotation{};
  std::vector<ScalarParameters> scalars{};
  BuoyancyParameters buoyancy{};
  ForcingParameters forcing{ForcingKind::bulk_velocity, 1};
  ForcingParameters spanwise_forcing{};
  MagneticFieldParameters magnetic_field{};
  bool all_methods = false;  ///< by every exchange method; the others by a mixture
};

FlowCase settings_for(const Size& size, Diffusion diffusion, TridiagonalMethod method) {
  FlowCase settings;
  settings.cells = size.cells;
  settings.length_x = 4;
  settings.length_y = 2;
  settings.z_nodes = tanh_nodes(size.cells[2], 2, 1.6, size.bottom.kind == size.top.kind);
  settings.grid_velocity = size.grid_velocity;
  settings.z_blocks = size.z_blocks;
  settings.flow = {.viscosity = 1.0 / 2800,
                   .bottom = size.bottom,
                   .top = size.top,
                   .forcing = size.forcing,
                   .spanwise_forcing = size.spanwise_forcing,
                   .scalars = size.scalars,
                   .diffusion = diffusion,
                   .order = size.order,
                   .tridiagonal = method};
  settings.flow.terms.edit<RotationParameters>() = size.rotation;
  settings.flow.terms.edit<BuoyancyParameters>() = size.buoyancy;
  settings.flow.terms.edit<MagneticFieldParameters>() = size.magnetic_field;
  return settings;
}

std::string label(const Size& size, Diffusion diffusion, TridiagonalMethod method) {
  return std::string(size.name) + ", " + test::name_of(diffusion) + ", " + test::name_of(method);
}

/// Gives all ranks the outcome of rank 0.
void share(Outcome& outcome) {
  std::vector<std::int64_t> lengths;
  for (const Outcome::Part& part : outcome.parts) lengths.push_back(std::ssize(part.values));
  broadcast(lengths, MPI_COMM_WORLD);
  outcome.parts.resize(lengths.size());
  for (std::size_t n = 0; n < lengths.size(); ++n) {
    Outcome::Part& part = outcome.parts[n];
    broadcast(part.name, MPI_COMM_WORLD);
    part.values.resize(static_cast<std::size_t>(lengths[n]));
    MPI_Bcast(part.values.data(), static_cast<int>(lengths[n]), MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(&part.largest, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
}

/// What one process computes: rank 0, once for all tests. Collective.
const Outcome& alone(const Size& size, Diffusion diffusion, TridiagonalMethod method) {
  static std::map<std::string, Outcome> known;
  const std::string name = label(size, diffusion, method);
  if (const auto found = known.find(name); found != known.end()) return found->second;
  Outcome outcome;
  if (rank_of(MPI_COMM_WORLD) == 0) outcome = run(settings_for(size, diffusion, method), MPI_COMM_SELF);
  share(outcome);
  return known.emplace(name, std::move(outcome)).first->second;
}

void expect_same_on_every_grid(const Size& size, Diffusion diffusion, TridiagonalMethod method) {
  FlowCase settings = settings_for(size, diffusion, method);
  const Outcome& one = alone(size, diffusion, method);
  const std::string name = label(size, diffusion, method);
  std::size_t total = 0;
  // Steps with implicit_z and P-TDMA exchange all that others do; test_transpose has every method for transposes.
  const bool all_methods = size.all_methods && diffusion == Diffusion::implicit_z && method == TridiagonalMethod::ptdma;
  for (const ProcessGrid& grid : Decomposition::candidates(size.cells, world_size(), size.z_blocks)) {
    for (const ExchangeMethods& methods : method_sets(all_methods)) {
      settings.processes = grid;
      settings.exchange = methods;
      const Outcome together = run(settings, MPI_COMM_WORLD);
      SCOPED_TRACE(name + ", " + methods.text() + ", " + std::to_string(grid.py) + " x " + std::to_string(grid.pz));
      for (std::size_t n = 0; n < one.parts.size(); ++n) total += differences(one.parts[n], together.parts[n]);
    }
  }
  test::expect_at_most(name + ": numbers that differ from one process", static_cast<double>(total), 0);
}

class ProcessGridIndependence : public testing::TestWithParam<Size> {};

TEST_P(ProcessGridIndependence, BitwiseSameResults) {
  expect_same_on_every_grid(GetParam(), Diffusion::implicit, TridiagonalMethod::ptdma);
  for (const Diffusion diffusion : {Diffusion::explicit_, Diffusion::implicit_z}) {
    for (const TridiagonalMethod method : {TridiagonalMethod::ptdma, TridiagonalMethod::transpose}) {
      expect_same_on_every_grid(GetParam(), diffusion, method);
    }
  }
}

/// The two methods are different arithmetic for the same equations.
TEST_P(ProcessGridIndependence, MethodsAgreeToRoundOff) {
  const Outcome& ptdma = alone(GetParam(), Diffusion::implicit_z, TridiagonalMethod::ptdma);
  const Outcome& transpose = alone(GetParam(), Diffusion::implicit_z, TridiagonalMethod::transpose);
  double worst = 0;
  for (std::size_t n = 0; n < 3; ++n) {
    for (std::size_t m = 0; m < ptdma.parts[n].values.size(); ++m)
      worst = std::max(worst, std::abs(ptdma.parts[n].values[m] - transpose.parts[n].values[m]));
  }
  test::expect_at_most(std::string(GetParam().name) + ": velocity, ptdma - transpose", worst, test::round_off(1e-13));
}

const WallCondition resting{};
const WallCondition free_slip{WallKind::free_slip, 0, 0};

/// Opposes w at this height.
WallCondition opposing(double height) {
  WallCondition wall;
  wall.actuation = make_actuation(opposition_control(), 1, OppositionParameters{height});
  return wall;
}
/// A velocity given by formulas, and slip.
WallCondition waving() {
  WallCondition wall{WallKind::slip, Formula::parse("0.1*sin(pi*x/2 - 30*t)", "xyt"),
                     Formula::parse("0.2*cos(pi*y)*t", "xyt"), Formula::parse("0.05*sin(pi*(x + y))", "xyt")};
  wall.slip_length = 0.02;
  return wall;
}

/// Every kind of wall, steady and not, and of source.
std::vector<ScalarParameters> heated() {
  ScalarParameters a{
      .name = "a", .prandtl = 0.7, .bottom = {ScalarWallKind::value, 1}, .top = {ScalarWallKind::flux, -0.2}};
  a.initial = Formula::parse("cos(pi*x)*sin(pi*y)*z", "xyz");
  a.source = TermParameters::with(StreamwiseSource{0.3});
  ScalarParameters b{
      .name = "b", .prandtl = 3, .bottom = {ScalarWallKind::flux, 0.1}, .top = {ScalarWallKind::value, -1}};
  b.source = TermParameters::with(HeldMean{0.5});
  ScalarParameters c{.name = "c",
                     .prandtl = 1,
                     .bottom = {ScalarWallKind::value, Formula::parse("1 + 0.3*sin(pi*(x/2 + y) - 20*t)", "xyt")},
                     .top = {ScalarWallKind::flux, Formula::parse("0.2*cos(9*t + pi*y)", "xyt")}};
  return {a, b, c};
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, ProcessGridIndependence,
    testing::Values(
        Size{"16x32x24", {16, 32, 24}, 3, resting, resting},
        // at 6 ranks in y some own as many rows as the halo is wide
        Size{"14x20x24_order4", {14, 20, 24}, 6, {WallKind::no_slip, -0.3, 0.2}, free_slip, Order::fourth, 0.4},
        Size{"18x14x22_open", {18, 14, 22}, 3, resting, free_slip},
        Size{"12x20x22_rotating",
             {12, 20, 22},
             6,
             resting,
             resting,
             Order::fourth,
             0,
             {.rate = {0.2, -0.4, 0.3}, .geostrophic = {0.5, 0.1}}},
        // at 6 ranks in y each owns a single line and a single wavenumber
        Size{.name = "11x6x23_moving",
             .cells = {11, 6, 23},
             .z_blocks = 6,
             .bottom = {WallKind::no_slip, -0.3, 0.2},
             .top = {WallKind::no_slip, 0.5, -0.1},
             .all_methods = true},
        Size{.name = "13x20x24_heated",
             .cells = {13, 20, 24},
             .z_blocks = 6,
             .bottom = resting,
             .top = free_slip,
             .order = Order::fourth,
             .grid_velocity = 0.3,
             .scalars = heated(),
             .buoyancy = {.scalar = "a", .coefficient = 2, .reference = 0.1, .direction = {0.6, 0, -0.8}},
             .all_methods = true},
        // z is split between the walls and the planes where w is detected
        Size{.name = "16x20x24_opposed",
             .cells = {16, 20, 24},
             .z_blocks = 6,
             .bottom = opposing(0.9),
             .top = opposing(0.05),
             .order = Order::fourth,
             .all_methods = true},
        Size{"12x8x18_waving", {12, 8, 18}, 6, waving(), opposing(1.5), Order::second, 0.3},
        Size{"12x20x24_power",
             {12, 20, 24},
             6,
             resting,
             resting,
             Order::fourth,
             0,
             {},
             {},
             {},
             {ForcingKind::power, Formula::parse("0.01*(1 + 0.5*cos(9*t))", "t")},
             {ForcingKind::bulk_velocity, Formula::parse("0.1*sin(7*t)", "t")}},
        Size{.name = "12x20x22_magnetic",
             .cells = {12, 20, 22},
             .z_blocks = 6,
             .bottom = resting,
             .top = free_slip,
             .order = Order::fourth,
             .forcing = {ForcingKind::pressure_gradient, 1},
             .magnetic_field = {.hartmann = 20}}),
    [](const auto& size) { return std::string("cells_") + size.param.name; });

}  // namespace
}  // namespace sluice
