// A stand-alone program with Sluice's decomposition, fields and halo exchange: a template for your own.
//
//   mpirun -n 4 sluice_core_example 32
//
// Splits n x n x n cells over the ranks, gives each cell its global number, fills the halos from the neighbouring
// ranks, and checks every halo value: y is periodic, and z ends at walls.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/decomposition.hpp"
#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/field.hpp"
#include "core/decomp/halo_exchange.hpp"
#include "core/device/select.hpp"
#include "core/support/error.hpp"

namespace {

using sluice::real;

/// The number of cell i, j, k among n x n x n, y periodic; exact in single precision up to 256 x 256 x 256 cells.
real number(std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t n) {
  return static_cast<real>(i + n * ((j + n) % n + n * k));
}

/// Calls action(at, i, j, k) for the cells of a field and, if `halo`, for its halo within the walls: with the index in
/// the field's buffer and the global indices.
template <class Action>
void for_each_cell(const sluice::Field& field, std::int64_t n, bool halo, const Action& action) {
  const sluice::Box3& box = field.box();
  const std::int64_t y_layers = field.halo().y;
  const std::int64_t z_layers = field.halo().z;
  for (std::int64_t k = -z_layers; k < box.extent(2) + z_layers; ++k) {
    for (std::int64_t j = -y_layers; j < box.extent(1) + y_layers; ++j) {
      const bool inside = k >= 0 && k < box.extent(2) && j >= 0 && j < box.extent(1);
      const bool in_wall = box.lo[2] + k < 0 || box.lo[2] + k >= n;
      if (in_wall || (!inside && !halo)) continue;
      const std::int64_t row = (k + z_layers) * field.plane_length() + (j + y_layers) * field.row_length();
      for (std::int64_t i = 0; i < box.extent(0); ++i) {
        action(static_cast<std::size_t>(row + i), i, box.lo[1] + j, box.lo[2] + k);
      }
    }
  }
}

/// Returns how many values of all ranks are wrong after the halo exchange.
long long wrong_values(MPI_Comm world, std::int64_t n) {
  int ranks = 1;
  MPI_Comm_size(world, &ranks);

  // 1. The decomposition: z is split into blocks, and ranks own whole blocks. Of the process grids that fit, take one
  // from the middle, which splits both y and z.
  const int z_blocks = std::max(ranks, sluice::ZBlocks::default_count(n));
  const auto grids = sluice::Decomposition::candidates({n, n, n}, ranks, z_blocks);
  SLUICE_REQUIRE(!grids.empty(), "too many ranks for this grid");
  const sluice::ProcessGrid processes = grids[grids.size() / 2];
  const sluice::Decomposition decomposition({n, n, n}, processes, z_blocks);
  const sluice::Communicator comm(world, processes);
  const auto exchange = sluice::make_exchange("auto", world);

  // 2. A field on this rank's cells, with one layer of halo in y and z.
  const sluice::Box3 box = decomposition.x_pencil(comm.rank());
  sluice::Field field(box, sluice::Location::center);
  std::vector<real> values(field.buffer().size(), -1);
  for_each_cell(field, n, false, [&](std::size_t at, std::int64_t i, std::int64_t j, std::int64_t k) {
    values[at] = number(i, j, k, n);
  });
  field.buffer().upload(values);

  // 3. The halos.
  sluice::HaloExchange halos(comm, box, *exchange);
  halos.update({&field});

  values = field.buffer().download();
  long long wrong = 0;
  for_each_cell(field, n, true, [&](std::size_t at, std::int64_t i, std::int64_t j, std::int64_t k) {
    if (values[at] != number(i, j, k, n)) ++wrong;
  });
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG_LONG, MPI_SUM, world);
  if (comm.rank() == 0) {
    std::printf("%lld^3 cells on %d x %d ranks: %lld wrong values\n", static_cast<long long>(n), processes.py,
                processes.pz, wrong);
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = EXIT_SUCCESS;
  try {
    sluice::device::select(MPI_COMM_WORLD);
    const std::int64_t n = argc > 1 ? std::atoll(argv[1]) : 32;
    if (wrong_values(MPI_COMM_WORLD, n) != 0) status = EXIT_FAILURE;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sluice_core_example: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  MPI_Finalize();
  return status;
}
