#include "src/run/memory_estimate.hpp"

#include <fmt/format.h>

#include "core/device/memory.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "core/support/owned_comm.hpp"
#include "solver/time_stepper.hpp"

namespace sluice {

std::vector<double> memory_of_ranks(const FlowParameters& flow, const Decomposition& decomposition,
                                    const ExchangeMethods& exchange, bool on_gpu) {
  std::vector<double> bytes = TimeStepper::memory(decomposition, flow, exchange, on_gpu);
  // A copy of a field for a checkpoint; samples need less.
  for (std::size_t rank = 0; rank < bytes.size(); ++rank)
    bytes[rank] += Field::memory(decomposition.x_pencil(static_cast<int>(rank)));
  return bytes;
}

namespace {

/// Memory needed and available on this rank's device or its node, in bytes.
struct Need {
  double needed, available;
};

/// `needed`: by this rank. Collective.
Need need_of(const std::function<double()>& needed, MPI_Comm world) {
  Need need{};
  run_collectively(world, [&] { need = {needed(), static_cast<double>(device::free_memory())}; });
  if (!device::is_gpu())  // ranks of a node share its memory
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &need.needed, 1, MPI_DOUBLE, MPI_SUM, OwnedComm::of_host(world)),
              "MPI_Allreduce");
  return need;
}

double memory_of_rank(const FlowParameters& flow, const Decomposition& decomposition, const ExchangeMethods& exchange,
                      MPI_Comm world) {
  return memory_of_ranks(flow, decomposition, exchange).at(static_cast<std::size_t>(rank_of(world)));
}

}  // namespace

bool has_memory(const FlowParameters& flow, const Decomposition& decomposition, const ExchangeMethods& exchange,
                MPI_Comm world) {
  const Need need = need_of([&] { return memory_of_rank(flow, decomposition, exchange, world); }, world);
  constexpr double with_libraries = 1.02;
  int fits = with_libraries * need.needed <= need.available ? 1 : 0;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &fits, 1, MPI_INT, MPI_MIN, world), "MPI_Allreduce");
  return fits == 1;
}

void require_memory(const FlowParameters& flow, const Decomposition& decomposition, const ExchangeMethods& exchange,
                    MPI_Comm world, double outputs) {
  require_memory([&] { return memory_of_rank(flow, decomposition, exchange, world) + outputs; }, world);
}

void require_memory(const std::function<double()>& bytes, MPI_Comm world, const std::string& remedy) {
  const Need need = need_of(bytes, world);
  run_collectively(world, [&] {
    if (need.needed <= need.available) return;
    constexpr double gib = 1073741824.0;
    throw Error(ExitCode::resources,
                fmt::format("the case needs {:.2f} GiB of memory on a {} that has {:.2f} GiB free: use more {}, or {}",
                            need.needed / gib, device::is_gpu() ? "GPU" : "node", need.available / gib,
                            device::is_gpu() ? "GPUs" : "nodes", remedy));
  });
}

}  // namespace sluice
