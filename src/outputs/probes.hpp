#pragma once
#include "core/support/box3.hpp"
#include "io/case/case.hpp"
#include "solver/grid/grid.hpp"

namespace sluice {

/// What a probe needs, in bytes.
struct ProbeNeed {
  double sample = 0;      ///< a sample in its files
  double memory = 0;      ///< device memory of all ranks for the samples not yet written
  double own_memory = 0;  ///< the same for one rank
};

/// `owned`: the cells of that one rank.
ProbeNeed probe_need(const io::ProbeSpec& spec, const Grid& grid, const FlowParameters& flow, const Box3& owned);

}  // namespace sluice
