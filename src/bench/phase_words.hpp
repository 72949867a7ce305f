#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "core/decomp/decomposition.hpp"
#include "core/support/phases.hpp"
#include "model/parameters.hpp"
#include "poisson/tridiagonal/line_plan.hpp"

namespace sluice {

/// Minimum memory traffic of one step (`what` is "step") or one solve for each phase, in words (values of a field) per
/// point: docs/performance.md, What is counted. Phases not named move few words. `lines`: how z lines are solved.
std::map<TimedPhase, double> min_words(const std::string& what, const std::array<std::int64_t, 3>& cells,
                                       const FlowParameters& flow, const ProcessGrid& processes, LineStrategy lines);

}  // namespace sluice
