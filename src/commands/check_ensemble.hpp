#pragma once
// What `sluice check` prints of an ensemble.
#include "core/decomp/decomposition.hpp"
#include "io/case/case.hpp"
#include "solver/grid/grid.hpp"
#include "src/commands/check_physics.hpp"
#include "src/commands/run_forecast.hpp"

namespace sluice {

/// How the members of an ensemble are spread over processes.
struct Spread {
  int members = 0;  ///< 0: no ensemble
  int processes = 1;

  int of_process() const { return (members + processes - 1) / processes; }  ///< at most
};

/// Throws Error(usage) if there are more processes than members.
Spread spread_of(const io::Case& settings, int processes);

/// The cost of all members, from that of one: `settings`, `length` and `speed`, ns per point and step. `common`: the
/// case of the ensemble.
void print_ensemble(const Spread& spread, const io::Case& settings, const Grid& grid,
                    const Decomposition& decomposition, const RunLength& length, double speed, const io::Case& common,
                    Warnings& warnings);

}  // namespace sluice
