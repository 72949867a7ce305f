#include "src/run/memory_estimate.hpp"

#include <fmt/format.h>

#include "core/device/memory.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "core/support/owned_comm.hpp"
#include "solver/time_stepper.hpp"

namespace sluice {

double rank_memory(const FlowParameters& flow, const Decomposition& decomposition, const ExchangeMethods& exchange,
                   int rank, bool on_gpu) {
  const double copy = Field::memory(decomposition.x_pencil(rank));  // of a field for a checkpoint; samples need less
  return TimeStepper::memory(decomposition, rank, flow, exchange, on_gpu) + copy;
}

double step_memory(const FlowParameters& flow, const Decomposition& decomposition, const ExchangeMethods& exchange) {
  double bytes = 0;
  for (int rank = 0; rank < decomposition.processes().size(); ++rank)
    bytes += rank_memory(flow, decomposition, exchange, rank);
  return bytes;
}

namespace {

/// Memory needed and available on this rank's device or its node, in bytes.
struct Need {
  double needed, available;
};

/// Collective.
Need need_of(const FlowParameters& flow, const Decomposition& decomposition, const ExchangeMethods& exchange,
             MPI_Comm world, double outputs = 0) {
  double needed = rank_memory(flow, decomposition, exchange, rank_of(world)) + outputs;
  if (!device::is_gpu())  // ranks of a node share its memory
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &needed, 1, MPI_DOUBLE, MPI_SUM, OwnedComm::of_host(world)), "MPI_Allreduce");
  return {needed, static_cast<double>(device::free_memory())};
}

}  // namespace

bool has_memory(const FlowParameters& flow, const Decomposition& decomposition, const ExchangeMethods& exchange,
                MPI_Comm world) {
  const Need need = need_of(flow, decomposition, exchange, world);
  constexpr double with_libraries = 1.02;
  int fits = with_libraries * need.needed <= need.available ? 1 : 0;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &fits, 1, MPI_INT, MPI_MIN, world), "MPI_Allreduce");
  return fits == 1;
}

void require_memory(const FlowParameters& flow, const Decomposition& decomposition, const ExchangeMethods& exchange,
                    MPI_Comm world, double outputs) {
  const Need need = need_of(flow, decomposition, exchange, world, outputs);
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
