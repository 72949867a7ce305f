#include "src/run/memory_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/decomp/halo_exchange.hpp"
#include "core/device/memory.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "core/support/owned_comm.hpp"
#include "model/field_descriptor.hpp"
#include "poisson/helmholtz_solver.hpp"
#include "poisson/poisson_solver.hpp"
#include "solver/momentum/momentum.hpp"
#include "solver/physics/terms.hpp"
#include "solver/walls/actuations.hpp"

namespace sluice {

namespace {

/// Elements of a rank's fields: all fields of the state, u* and R for each field that a step advances, phi, which
/// explicit steps store in p, and a second p where the momentum sweep updates it (sweep_updates_pressure: on GPUs).
double field_elements(const Grid& grid, const Box3& box, const FlowParameters& flow, bool on_gpu) {
  double elements = 0;
  const std::vector<FieldDescriptor> fields = fields_of(flow);
  for (std::size_t n = 0; n < fields.size(); ++n) {
    const auto array = [&](std::int64_t in_rows, HaloWidth halo) {
      elements += static_cast<double>(in_rows * (box.extent(1) + std::int64_t{2} * halo.y) *
                                      (box.extent(2) + std::int64_t{2} * halo.z));
    };
    const HaloWidth halo = halo_of(fields[n], flow.order);
    if (n != pressure_field) {
      array(3 * box.extent(0), halo);
    } else {
      array(PoissonSolver::row_length(grid.cells()[0]), PoissonSolver::halo(flow.order));
      const bool second = on_gpu && can_leave_corrections(flow, on_gpu);
      if (flow.diffusion == Diffusion::implicit_z) array((second ? 2 : 1) * box.extent(0), halo);
    }
  }
  return elements;
}

/// Elements of the planes of walls where the velocity or a scalar varies, and of what responses to the flow hold.
double wall_elements(const Box3& box, const FlowParameters& flow) {
  double planes = 0;
  for (const WallCondition& wall : {flow.bottom, flow.top}) {
    planes += planes_of_response(wall);
    for (std::size_t n = 0; n < wall.velocity.size(); ++n) planes += wall.total_velocity(n).is_constant() ? 0 : 1;
  }
  for (const FieldDescriptor& scalar : scalar_fields(flow)) {
    for (const GivenAtWall& given : scalar.given_at_wall) planes += given.varies() ? 1 : 0;
  }
  return planes * static_cast<double>(box.extent(0) * (box.extent(1) + std::int64_t{2} * reach_of(Order::fourth)));
}

/// Bytes of the message buffers of all methods. Each has a buffer to send and one to receive, which all its exchanges
/// share. A method that shares arrays needs a buffer for halos only, to receive.
double message_buffers(const MemoryNeed& need, const ExchangeMethods& exchange) {
  std::map<std::string, double> largest;
  const auto add = [&](const std::string& method, double bytes) { largest[method] = std::max(largest[method], bytes); };
  add(exchange.halos, (shares_arrays(exchange.halos) ? 1 : 2) * need.halos.messages);
  if (!shares_arrays(exchange.rows)) add(exchange.rows, 2 * need.rows.messages);
  if (!shares_arrays(exchange.columns)) add(exchange.columns, 2 * need.columns.messages);
  double bytes = 0;
  for (const auto& [method, size] : largest) bytes += size;
  return bytes;
}

MemoryNeed solver_need(const Decomposition& decomposition, const FlowParameters& flow, int rank) {
  const MemoryNeed poisson = PoissonSolver::memory(decomposition, rank, flow.tridiagonal);
  if (flow.diffusion != Diffusion::implicit_z) return poisson;
  MemoryNeed need = poisson + ZHelmholtzSolver::memory(decomposition, rank, 3, flow.tridiagonal);
  for (std::size_t n = 0; n < flow.scalars.size(); ++n)
    need = need + ZHelmholtzSolver::memory(decomposition, rank, 1, flow.tridiagonal);
  return need;
}

}  // namespace

double rank_memory(const Grid& grid, const FlowParameters& flow, const Decomposition& decomposition,
                   const ExchangeMethods& exchange, int rank, bool on_gpu) {
  const ProcessGrid& processes = decomposition.processes();
  const Box3 box = decomposition.x_pencil(rank);
  double elements = field_elements(grid, box, flow, on_gpu);

  elements += wall_elements(box, flow);
  const std::int64_t lines = (box.extent(0) / 2 + 1) * box.extent(1);
  if (flow.periodic_z) elements += 5 * static_cast<double>(lines);  // PeriodicLines
  elements += static_cast<double>(box.volume());  // copy of a field for a checkpoint; samples need less

  std::vector<HaloWidth> widths;
  for (const FieldDescriptor& field : fields_of(flow)) widths.push_back(halo_of(field, flow.order));
  double in_background = 0;
  if (processes.pz > 1 && !flow.periodic_z) {
    const double planes = flow.diffusion == Diffusion::implicit_z ? 2 : 1;  // phi beyond its halos
    elements += planes * static_cast<double>(box.extent(0) * box.extent(1));
    std::vector<HaloWidth> star = widths;
    star.erase(star.begin() + pressure_field);
    if (shares_arrays(exchange.halos)) in_background = HaloExchange::memory_in_background(box, processes, star);
  }
  MemoryNeed need = solver_need(decomposition, flow, rank) + HaloExchange::memory(box, processes, widths);
  for (const auto& [method, part] : {std::pair{&ExchangeMethods::rows, &MemoryNeed::rows},
                                     std::pair{&ExchangeMethods::columns, &MemoryNeed::columns}}) {
    double& transposed = (need.*part).transposed;
    for (int other = 0; shares_arrays(exchange.*method) && other < processes.size(); ++other)
      transposed = std::max(transposed, (solver_need(decomposition, flow, other).*part).transposed);
  }
  return elements * sizeof(real) + need.held + need.rows.transposed + need.columns.transposed +
         message_buffers(need, exchange) + in_background;
}

double step_memory(const Grid& grid, const FlowParameters& flow, const Decomposition& decomposition,
                   const ExchangeMethods& exchange) {
  double bytes = 0;
  for (int rank = 0; rank < decomposition.processes().size(); ++rank)
    bytes += rank_memory(grid, flow, decomposition, exchange, rank);
  return bytes;
}

namespace {

/// Memory needed and available on this rank's device or its node, in bytes.
struct Need {
  double needed, available;
};

/// Collective.
Need need_of(const Grid& grid, const FlowParameters& flow, const Decomposition& decomposition,
             const ExchangeMethods& exchange, MPI_Comm world, double outputs = 0) {
  double needed = rank_memory(grid, flow, decomposition, exchange, rank_of(world)) + outputs;
  if (!device::is_gpu())  // ranks of a node share its memory
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &needed, 1, MPI_DOUBLE, MPI_SUM, OwnedComm::of_host(world)), "MPI_Allreduce");
  return {needed, static_cast<double>(device::free_memory())};
}

}  // namespace

bool has_memory(const Grid& grid, const FlowParameters& flow, const Decomposition& decomposition,
                const ExchangeMethods& exchange, MPI_Comm world) {
  const Need need = need_of(grid, flow, decomposition, exchange, world);
  constexpr double with_libraries = 1.02;
  int fits = with_libraries * need.needed <= need.available ? 1 : 0;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &fits, 1, MPI_INT, MPI_MIN, world), "MPI_Allreduce");
  return fits == 1;
}

void require_memory(const Grid& grid, const FlowParameters& flow, const Decomposition& decomposition,
                    const ExchangeMethods& exchange, MPI_Comm world, double outputs) {
  const Need need = need_of(grid, flow, decomposition, exchange, world, outputs);
  run_collectively(world, [&] {
    if (need.needed <= need.available) return;
    constexpr double gib = 1073741824.0;
    throw Error(
        ExitCode::resources,
        fmt::format(
            "the case needs {:.2f} GiB of memory on a {} that has {:.2f} GiB free: use more {}, or a coarser grid",
            need.needed / gib, device::is_gpu() ? "GPU" : "node", need.available / gib,
            device::is_gpu() ? "GPUs" : "nodes"));
  });
}

}  // namespace sluice
