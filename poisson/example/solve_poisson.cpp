// A stand-alone program with Sluice's Poisson solver: a template for your own.
//
//   mpirun -n 4 sluice_poisson_example 64
//
// Solves lap(phi) = f in a channel 2 pi x pi x 2, periodic in x and y, d(phi)/dz = 0 on the walls, on n x n x
// n cells that are finer towards the walls, and compares with phi = cos(x) cos(2 y) cos(pi z / 2).
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/decomposition.hpp"
#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/field.hpp"
#include "core/device/select.hpp"
#include "core/device/timers.hpp"
#include "core/support/error.hpp"
#include "poisson/poisson_solver.hpp"

namespace {

using sluice::real;

constexpr double pi = std::numbers::pi;

double exact(double x, double y, double z) {
  return std::cos(x) * std::cos(2 * y) * std::cos(pi * z / 2);
}

/// f = lap(exact).
double right_hand_side(double x, double y, double z) {
  return -(1 + 4 + pi * pi / 4) * exact(x, y, z);
}

/// Calls action(n, x, y, z) for each cell of the rank, with its index in the field's buffer and its centre.
template <class Action>
void for_each_cell(const sluice::Field& field, const sluice::PoissonSolver::Domain& domain, const Action& action) {
  const sluice::Box3& box = field.box();
  for (std::int64_t k = 0; k < box.extent(2); ++k) {
    const auto cell = static_cast<std::size_t>(box.lo[2] + k);
    const double z = (domain.z_nodes[cell] + domain.z_nodes[cell + 1]) / 2;
    for (std::int64_t j = 0; j < box.extent(1); ++j) {
      const double y = (static_cast<double>(box.lo[1] + j) + 0.5) * domain.dy;
      for (std::int64_t i = 0; i < box.extent(0); ++i) {
        const double x = (static_cast<double>(i) + 0.5) * domain.dx;
        const std::int64_t n =
            (k + field.halo().z) * field.plane_length() + (j + field.halo().y) * field.row_length() + i;
        action(static_cast<std::size_t>(n), x, y, z);
      }
    }
  }
}

/// Solves on n x n x n cells; returns the largest error.
double solve(MPI_Comm world, std::int64_t n) {
  int ranks = 1;
  MPI_Comm_size(world, &ranks);

  // 1. The domain: cell sizes in x and y, and the faces of the cells in z, walls included.
  const auto cells = static_cast<double>(n);
  sluice::PoissonSolver::Domain domain{2 * pi / cells, pi / cells, {}};
  for (std::int64_t k = 0; k <= n; ++k) {
    domain.z_nodes.push_back(1 + std::tanh(1.5 * (2 * static_cast<double>(k) / cells - 1)) / std::tanh(1.5));
  }

  // 2. The decomposition: z is split into blocks, and ranks own whole blocks. Take the first process grid that fits.
  const int z_blocks = std::max(ranks, sluice::ZBlocks::default_count(n));
  const auto grids = sluice::Decomposition::candidates({n, n, n}, ranks, z_blocks);
  SLUICE_REQUIRE(!grids.empty(), "too many ranks for this grid");
  const sluice::Decomposition decomposition({n, n, n}, grids.front(), z_blocks);
  const sluice::Communicator comm(world, grids.front());
  const auto exchange = sluice::make_exchange("auto", world);

  // 3. The solver, and a field whose rows have room for the in-place transform.
  sluice::PoissonSolver solver(comm, decomposition, domain, sluice::TridiagonalMethod::ptdma, *exchange);
  sluice::Field phi = solver.make_field();

  // 4. Upload the right-hand side; the solution replaces it.
  std::vector<real> values(phi.buffer().size());
  for_each_cell(phi, domain, [&](std::size_t at, double x, double y, double z) {
    values[at] = static_cast<real>(right_hand_side(x, y, z));
  });
  phi.buffer().upload(values);
  sluice::PhaseTimers timers;
  timers.enable();
  solver.solve(phi, timers);
  values = phi.buffer().download();

  double error = 0;
  for_each_cell(phi, domain, [&](std::size_t at, double x, double y, double z) {
    error = std::max(error, std::abs(static_cast<double>(values[at]) - exact(x, y, z)));
  });
  MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, world);
  if (comm.rank() == 0) {
    std::printf("%lld^3 cells on %d x %d ranks:", static_cast<long long>(n), grids.front().py, grids.front().pz);
    for (const auto& phase : timers.phases())
      std::printf(" %s %.2f ms,", sluice::name_of(phase.phase), 1e3 * phase.seconds);
    std::printf(" largest error %.2e\n", error);
  }
  return error;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = EXIT_SUCCESS;
  try {
    sluice::device::select(MPI_COMM_WORLD);
    const std::int64_t n = argc > 1 ? std::atoll(argv[1]) : 32;
    const double coarse = solve(MPI_COMM_WORLD, n);
    const double fine = solve(MPI_COMM_WORLD, 2 * n);
    if (!(coarse > 3 * fine)) status = EXIT_FAILURE;  // second order: a quarter of the error on twice the cells
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sluice_poisson_example: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  MPI_Finalize();
  return status;
}
