#pragma once
#include <mpi.h>

#include <string>

#include "core/decomp/decomposition.hpp"
#include "core/flow/parameters.hpp"
#include "solver/grid/grid.hpp"

namespace sluice {

/// Device memory in bytes that a run holds: fields, work arrays, exchange buffers. Of one rank, and of all. `exchange`:
/// the method; with `auto`, as if arrays were packed, which takes the most.
double rank_memory(const Grid& grid, const FlowParameters& flow, const Decomposition& decomposition,
                   const std::string& exchange, int rank);
double step_memory(const Grid& grid, const FlowParameters& flow, const Decomposition& decomposition,
                   const std::string& exchange);

/// Whether the machines have the memory for that, and a fiftieth more, since libraries take some too. Collective: the
/// same on every rank.
bool has_memory(const Grid& grid, const FlowParameters& flow, const Decomposition& decomposition,
                const std::string& exchange, MPI_Comm world);

/// Refuses a run that its machines have too little memory for. Collective. Throws Error(resources) on every rank.
void require_memory(const Grid& grid, const FlowParameters& flow, const Decomposition& decomposition,
                    const std::string& exchange, MPI_Comm world);

}  // namespace sluice
