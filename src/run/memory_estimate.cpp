#include "src/run/memory_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/decomp/transpose.hpp"
#include "core/device/memory.hpp"
#include "core/flow/field_descriptor.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "poisson/poisson_solver.hpp"
#include "poisson/tridiagonal/block_solver.hpp"
#include "poisson/tridiagonal/line_tables.hpp"

namespace sluice {

namespace {

/// Elements of a rank's fields: those of the state, u* and R for each that a step advances, and phi, which explicit
/// steps keep in p.
double field_elements(const Grid& grid, const Box3& box, Diffusion diffusion) {
  double elements = 0;
  for (std::size_t n = 0; n < flow_fields().size(); ++n) {
    const HaloWidth halo = flow_fields()[n].halo;
    std::int64_t in_rows = 3 * box.extent(0);
    if (n == pressure_field)
      in_rows = PoissonSolver::row_length(grid.cells()[0]) + (diffusion == Diffusion::implicit_z ? box.extent(0) : 0);
    elements += static_cast<double>(in_rows * (box.extent(1) + 2 * halo.y) * (box.extent(2) + 2 * halo.z));
  }
  return elements;
}

/// Elements that a transpose there and back between two boxes of one rank sends or receives at the most, own block left
/// out.
double transposed(const Box3& from, const Box3& to) {
  const double own = static_cast<double>(intersect(from, to).volume());
  return std::max(static_cast<double>(from.volume()), static_cast<double>(to.volume())) - own;
}

/// Elements that a transpose holds for a rank which owns `box` afterwards.
template <class T>
double held_by_transpose(const Box3& box) {
  return static_cast<double>(Transpose<T>::row_length(box) * box.extent(1) * box.extent(2));
}

/// Elements that one solver of z lines holds, the transpose's left out, those of its transpose, and what travels
/// between ranks.
struct LineSolverElements {
  double held = 0;
  double transposed = 0;
  double exchanged = 0;
};

/// Blocks that a rank's planes are solved in.
int blocks_here(const Decomposition& decomposition, int z_index, TridiagonalMethod method) {
  const ProcessGrid& processes = decomposition.processes();
  if (joins_blocks(decomposition, method))
    return JoinedBlocks::count(decomposition.x_pencil(processes.rank(0, z_index)).extent(2));
  const auto blocks = decomposition.block_range(z_index);
  return blocks[1] - blocks[0];
}

/// A complex line has 2 elements.
template <class Lines>
LineSolverElements line_solver_elements(const Box3& home, const Box3& whole, const Decomposition& decomposition,
                                        int z_index, TridiagonalMethod method) {
  const bool split = decomposition.processes().pz > 1;
  Box3 at_home = home;
  Box3 lines = whole;
  if (method == TridiagonalMethod::ptdma) {
    at_home.lo[2] = 2 * std::int64_t{decomposition.block_range(z_index)[0]};
    at_home.hi[2] = at_home.lo[2] + 2 * std::int64_t{blocks_here(decomposition, z_index, method)};
    lines.lo[2] = 0;
    lines.hi[2] = 2 * std::int64_t{decomposition.z_blocks().count()};
  }
  LineSolverElements elements;
  if (method == TridiagonalMethod::ptdma && (split || (device::is_gpu() && !solves_in_tiles(decomposition, method))))
    elements.held += Lines::components * static_cast<double>(at_home.volume());
  if (joins_blocks(decomposition, method)) {  // only the ends of the joined blocks travel
    at_home.lo[2] = 2 * std::int64_t{z_index};
    at_home.hi[2] = at_home.lo[2] + 2;
    lines.hi[2] = 2 * std::int64_t{decomposition.processes().pz};
    elements.held += Lines::components * static_cast<double>(at_home.volume());
  }
  if (split) {
    Box3 in_reals = lines;
    in_reals.lo[0] *= Lines::components;
    in_reals.hi[0] *= Lines::components;
    elements.transposed = held_by_transpose<real>(in_reals);
    elements.exchanged = Lines::components * transposed(at_home, lines);
  }
  return elements;
}

/// The pivots that the plain kernels of a GPU keep, one for each row that they eliminate in complex lines. In double
/// always.
double kept_pivots(const Box3& home, const Box3& whole, const Decomposition& decomposition, int z_index,
                   TridiagonalMethod method) {
  if (!device::is_gpu()) return 0;
  if (method == TridiagonalMethod::transpose) return static_cast<double>(whole.volume());
  const ZBlocks& blocks = decomposition.z_blocks();
  if (joins_blocks(decomposition, method) || BlockKernels<ShiftedLines>::hold(blocks)) return 0;
  const auto [first_block, end_block] = decomposition.block_range(z_index);
  return static_cast<double>(home.extent(0) * home.extent(1) * (end_block - first_block) * (blocks.longest() - 2));
}

LineSolverElements poisson_lines(const Decomposition& decomposition, const FlowParameters& flow, int rank) {
  return line_solver_elements<ShiftedLines>(decomposition.spectral_y_pencil(rank),
                                            decomposition.spectral_z_pencil(rank), decomposition,
                                            decomposition.processes().z_index(rank), flow.tridiagonal);
}

LineSolverElements diffusion_lines(const Decomposition& decomposition, const FlowParameters& flow, int rank) {
  return line_solver_elements<TableLines>(decomposition.x_pencil(rank), decomposition.z_pencil(rank), decomposition,
                                          decomposition.processes().z_index(rank), flow.tridiagonal);
}

/// Elements of all the arrays that transposes hold for a rank.
double held_by_transposes(const Decomposition& decomposition, const FlowParameters& flow, int rank) {
  double elements = poisson_lines(decomposition, flow, rank).transposed;
  if (decomposition.processes().py > 1)
    elements += 2 * held_by_transpose<std::complex<real>>(decomposition.spectral_y_pencil(rank));
  if (flow.diffusion == Diffusion::implicit_z) elements += 2 * diffusion_lines(decomposition, flow, rank).transposed;
  return elements;
}

}  // namespace

double rank_memory(const Grid& grid, const FlowParameters& flow, const Decomposition& decomposition,
                   const std::string& exchange, int rank) {
  const ProcessGrid& processes = decomposition.processes();
  const Box3 box = decomposition.x_pencil(rank);
  const int z_index = processes.z_index(rank);
  double elements = field_elements(grid, box, flow.diffusion);

  const std::int64_t y_halo = processes.py > 1 ? box.extent(2) * box.extent(0) : 0;
  const std::int64_t z_halo = processes.pz > 1 ? (box.extent(1) + 2) * box.extent(0) : 0;
  const double halos = 2.0 * static_cast<double>(flow_fields().size()) *
                       static_cast<double>(std::max(y_halo, z_halo));  // two sides of all fields
  double exchanged = halos;

  const Box3 y_pencil = decomposition.spectral_y_pencil(rank);
  const Box3 whole = decomposition.spectral_z_pencil(rank);
  if (processes.py > 1)
    exchanged = std::max(exchanged, 2 * transposed(decomposition.spectral_x_pencil(rank), y_pencil));
  const LineSolverElements poisson = poisson_lines(decomposition, flow, rank);
  elements += poisson.held;
  exchanged = std::max(exchanged, poisson.exchanged);
  if (flow.diffusion == Diffusion::implicit_z) {  // one solver for u and v, one for w
    const LineSolverElements diffusion = diffusion_lines(decomposition, flow, rank);
    elements += 2 * diffusion.held;
    exchanged = std::max(exchanged, diffusion.exchanged);
  }
  // Where ranks reach each other's memory, each holds as much as the one that needs most.
  const bool shared = exchange == "peer";
  double transposes = 0;
  for (int other = 0; other < processes.size(); ++other) {
    if (shared || other == rank) transposes = std::max(transposes, held_by_transposes(decomposition, flow, other));
  }
  elements += transposes;
  // All exchanges share one buffer to send from and one to receive in. Where ranks reach each other's memory, only
  // halos need one, to receive in.
  elements += shared ? halos : 2 * exchanged;
  elements += static_cast<double>(box.volume());  // a field on its way to a checkpoint
  double coefficients =                           // in double always
      kept_pivots(y_pencil, whole, decomposition, z_index, flow.tridiagonal);
  if (flow.tridiagonal == TridiagonalMethod::ptdma) {  // prepared ones of the block boundaries
    const bool joined = joins_blocks(decomposition, flow.tridiagonal);
    const double systems = joined ? processes.pz : decomposition.z_blocks().count();
    coefficients += 3 * systems * static_cast<double>(whole.extent(0) * whole.extent(1));
    if (joined)
      coefficients += 3.0 * blocks_here(decomposition, z_index, flow.tridiagonal) *
                      static_cast<double>(y_pencil.extent(0) * y_pencil.extent(1));
  }
  return elements * sizeof(real) + coefficients * sizeof(double);
}

double step_memory(const Grid& grid, const FlowParameters& flow, const Decomposition& decomposition,
                   const std::string& exchange) {
  double bytes = 0;
  for (int rank = 0; rank < decomposition.processes().size(); ++rank)
    bytes += rank_memory(grid, flow, decomposition, exchange, rank);
  return bytes;
}

namespace {

/// What this rank's device, or the ranks of its node, need and have, in bytes.
struct Need {
  double needed, available;
};

/// Collective.
Need need_of(const Grid& grid, const FlowParameters& flow, const Decomposition& decomposition,
             const std::string& exchange, MPI_Comm world) {
  double needed = rank_memory(grid, flow, decomposition, exchange, rank_of(world));
  if (!device::is_gpu()) {  // ranks of a node share its memory
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Allreduce(MPI_IN_PLACE, &needed, 1, MPI_DOUBLE, MPI_SUM, node);
    MPI_Comm_free(&node);
  }
  return {needed, static_cast<double>(device::free_memory())};
}

}  // namespace

bool has_memory(const Grid& grid, const FlowParameters& flow, const Decomposition& decomposition,
                const std::string& exchange, MPI_Comm world) {
  const Need need = need_of(grid, flow, decomposition, exchange, world);
  constexpr double with_libraries = 1.02;
  int enough = with_libraries * need.needed <= need.available ? 1 : 0;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &enough, 1, MPI_INT, MPI_MIN, world), "MPI_Allreduce");
  return enough == 1;
}

void require_memory(const Grid& grid, const FlowParameters& flow, const Decomposition& decomposition,
                    const std::string& exchange, MPI_Comm world) {
  const Need need = need_of(grid, flow, decomposition, exchange, world);
  run_collectively(world, [&] {
    if (need.needed <= need.available) return;
    constexpr double gib = 1073741824.0;
    throw Error(
        ExitCode::resources,
        fmt::format("the case needs {:.2f} GiB on a {} that has {:.2f} GiB free: use more {}, or a coarser grid",
                    need.needed / gib, device::is_gpu() ? "GPU" : "node", need.available / gib,
                    device::is_gpu() ? "GPUs" : "nodes"));
  });
}

}  // namespace sluice
