// A stand-alone program with Sluice's flow solver and a force of its own: a template for yours.
//
//   mpirun -n 4 sluice_solver_example
//
// A constant force f drives fluid along x through a porous medium between two walls at z = 0 and 2. The drag of the
// medium, -r (u, v, w) per mass, is the force that Sluice does not have. From rest, the flow becomes the steady one
// (Brinkman 1947), with which the program compares:
//   u = f/r [1 - cosh(a (z - 1)) / cosh(a)],   a = sqrt(r/nu)
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "core/decomp/field_copy.hpp"
#include "core/device/select.hpp"
#include "core/support/collective.hpp"
#include "io/case/case_file.hpp"
#include "solver/diagnostics.hpp"
#include "solver/physics/force_loops.hpp"
#include "solver/physics/terms.hpp"
#include "solver/statistics/statistics.hpp"
#include "src/run/setup.hpp"
#include "src/run/simulation.hpp"

namespace {

using sluice::real;

constexpr double viscosity = 0.1, force = 2.5, drag = 2.5;

// The case, as in a case file: docs/case-reference.md has the keys.
const char* const case_text = R"(
flow:
  type: channel
  reynolds: {viscosity: 0.1}
  forcing: {pressure_gradient: 2.5}
domain: {size: [1, 1, 2]}
grid:
  cells: [8, 8, 48]
  stretching: {type: tanh, factor: 1.5}
time: {end: 6, cfl: 0.9, diffusion: implicit_z}
initial: {type: zero}
output: {directory: out}
)";

/// The force at one cell. u, v and w are known on the upper faces of the cell along x, y and z, and the force on each
/// is added there. V: a view of a whole array or, on a CPU, of the rows around a cell.
template <class V>
struct DragAtCell {
  static constexpr int words() { return 3 + 3 * sluice::Forced::words; }  // that it reads and writes
  V u, v, w;
  sluice::Forced force_u, force_v, force_w;
  real rate;
  SLUICE_INLINE void operator()(sluice::Cell c) const {
    force_u.add(c, -rate * u(c.i, c.j, c.k));
    force_v.add(c, -rate * v(c.i, c.j, c.k));
    force_w.add(c, -rate * w(c.i, c.j, c.k));
  }
};

/// The kernels of the force: one loop over cells, with a name for profilers.
struct Drag {
  static constexpr bool reads_velocity = true;
  real rate;

  template <sluice::Order, class V, class Action>
  void for_each(const sluice::ForceArrays<V>& a, const Action& action) const {
    action("drag of the medium", DragAtCell<V>{a.u, a.v, a.w, a.force_u, a.force_v, a.force_w, rate});
  }
};

double exact(double z) {
  const double a = std::sqrt(drag / viscosity);
  return force / drag * (1 - std::cosh(a * (z - 1)) / std::cosh(a));
}

/// The largest error of u in any cell. Collective.
double error_of_field(sluice::Simulation& simulation) {
  const sluice::Box3& box = simulation.box();  // of this rank: global indices
  const std::vector<real> u = sluice::download(simulation.state().velocity.u);
  const std::int64_t plane = box.extent(0) * box.extent(1);
  double error = 0;
  for (std::size_t n = 0; n < u.size(); ++n) {
    const double z = simulation.grid.z_center(box.lo[2] + static_cast<std::int64_t>(n) / plane);
    error = std::max(error, std::abs(static_cast<double>(u[n]) - exact(z)));
  }
  return sluice::global_max(error, simulation.comm.world());
}

/// The largest error of the plane means of u. Collective.
double error_of_means(sluice::Simulation& simulation) {
  sluice::Statistics statistics(simulation.grid, simulation.stepper.metrics(), simulation.flow,
                                simulation.stepper.walls(), simulation.box(), {}, simulation.comm.world());
  statistics.sample(simulation.state(), simulation.forcing.x);
  const auto is_u = [](const sluice::ProfileInfo& profile) { return profile.name == "u"; };
  const auto number = std::ranges::find_if(statistics.profiles(), is_u) - statistics.profiles().begin();
  const sluice::StatisticsBlock& block = statistics.open_block();
  const std::vector<double>& sums = block.sums.at(static_cast<std::size_t>(number));
  double error = 0;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    const double mean = sums[k] / static_cast<double>(block.samples);
    error = std::max(error, std::abs(mean - exact(simulation.grid.z_center(static_cast<std::int64_t>(k)))));
  }
  return error;
}

/// Whether the steady flow is as accurate as it should be. Collective.
bool run(MPI_Comm world) {
  sluice::device::select(world);

  // 1. The case. The keys of Sluice's own terms, such as rotation, are part of the solver: io/ is told of them first.
  sluice::io::introduce(sluice::all_physics());
  const sluice::io::Case settings = sluice::io::parse_case(case_text, "own_force.cpp", {}, ".");

  // 2. Grid, ranks, fields and stepper.
  const sluice::Layout layout{sluice::choose_process_grid(settings, sluice::size_of(world)), settings.exchange};
  sluice::Simulation simulation(settings, sluice::make_grid(settings, ""), layout, world);

  // 3. The force, and its part of the limit of the time step.
  simulation.stepper.add(std::make_unique<sluice::LoopedForce<Drag>>(
                             Drag{static_cast<real>(drag)}, simulation.stepper.metrics(), simulation.flow.order),
                         drag / 2.51);

  // 4. From the initial field to the end.
  simulation.initialise();
  while (simulation.time() < *settings.time.end) simulation.advance();

  const double in_field = error_of_field(simulation);
  const double in_means = error_of_means(simulation);
  if (simulation.comm.rank() == 0)
    std::printf("step %lld, time %.2f: largest error of u %.2e, of its plane means %.2e\n",
                static_cast<long long>(simulation.step()), simulation.time(), in_field, in_means);
  constexpr double bound = 2e-3;  // of second order in dz
  return in_field < bound && in_means < bound;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = EXIT_FAILURE;
  try {
    if (run(MPI_COMM_WORLD)) status = EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sluice_solver_example: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  MPI_Finalize();
  return status;
}
