#pragma once
#include <string>
#include <vector>

#include "io/case/case.hpp"
#include "solver/grid/grid.hpp"

namespace sluice {

/// What is wrong with the formulas of a case: sentences that begin with the key.
struct FormulaFindings {
  std::vector<std::string> faults;    ///< at the begin of the run, which cannot start
  std::vector<std::string> failures;  ///< at a later time, at which the run will fail
  std::vector<std::string> warnings;  ///< the run will not fail, but is probably not what is meant
};

/// Tries all formulas of a case at the points of its grid and at times between `begin` and `end`: whether they are
/// finite, whether as much fluid enters through one wall as leaves through the other, and whether they are periodic.
/// The initial field is tried if `begin` is 0. Only a part of the points and times of a large run. Local; on a host
/// without a GPU, too.
FormulaFindings check_formulas(const io::Case& settings, const Grid& grid, double begin, double end);

/// Throws Error(usage) if there are faults.
void require_startable(const FormulaFindings& findings);

}  // namespace sluice
