#pragma once
#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

#include "core/decomp/decomposition.hpp"
#include "core/decomp/exchange/exchange_methods.hpp"
#include "core/device/parallel_for.hpp"
#include "model/parameters.hpp"

namespace sluice {

/// Device memory in bytes of a run on each rank: TimeStepper::memory and what checkpoints need.
std::vector<double> memory_of_ranks(const FlowParameters& flow, const Decomposition& decomposition,
                                    const ExchangeMethods& exchange, bool on_gpu = loops_on_gpu);

/// Whether the machines have that much memory plus a fiftieth for libraries. Collective: same result on every rank.
bool has_memory(const FlowParameters& flow, const Decomposition& decomposition, const ExchangeMethods& exchange,
                MPI_Comm world);

/// Refuses a run that needs more memory than its machines have; `outputs`: what this rank's outputs need, in bytes.
/// Collective. Throws Error(resources) on every rank.
void require_memory(const FlowParameters& flow, const Decomposition& decomposition, const ExchangeMethods& exchange,
                    MPI_Comm world, double outputs = 0);

/// The same for `bytes`, which returns what this rank needs; it may throw. `remedy`: what helps besides more devices.
void require_memory(const std::function<double()>& bytes, MPI_Comm world, const std::string& remedy = "a coarser grid");

}  // namespace sluice
