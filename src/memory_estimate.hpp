#pragma once
#include "core/decomp/decomposition.hpp"
#include "solver/flow_parameters.hpp"
#include "solver/grid.hpp"

namespace sluice {

/// Device memory in bytes that a run holds: fields, work arrays, halo and transpose buffers. Of one rank, and of all.
double rank_memory(const Grid& grid, const FlowParameters& flow, const Decomposition& decomposition, int rank);
double step_memory(const Grid& grid, const FlowParameters& flow, const Decomposition& decomposition);

}  // namespace sluice
