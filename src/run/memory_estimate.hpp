#pragma once
#include <mpi.h>

#include "core/decomp/decomposition.hpp"
#include "core/decomp/exchange/exchange_methods.hpp"
#include "core/device/parallel_for.hpp"
#include "model/parameters.hpp"

namespace sluice {

/// Device memory in bytes of a run, for one rank and for all: TimeStepper::memory and what checkpoints need.
double rank_memory(const FlowParameters& flow, const Decomposition& decomposition, const ExchangeMethods& exchange,
                   int rank, bool on_gpu = loops_on_gpu);
double step_memory(const FlowParameters& flow, const Decomposition& decomposition, const ExchangeMethods& exchange);

/// Whether the machines have that much memory plus a fiftieth for libraries. Collective: same result on every rank.
bool has_memory(const FlowParameters& flow, const Decomposition& decomposition, const ExchangeMethods& exchange,
                MPI_Comm world);

/// Refuses a run that needs more memory than its machines have; `outputs`: what this rank's outputs need, in bytes.
/// Collective. Throws Error(resources) on every rank.
void require_memory(const FlowParameters& flow, const Decomposition& decomposition, const ExchangeMethods& exchange,
                    MPI_Comm world, double outputs = 0);

}  // namespace sluice
