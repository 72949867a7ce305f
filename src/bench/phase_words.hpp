#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "core/decomp/decomposition.hpp"
#include "core/flow/parameters.hpp"

namespace sluice {

/// Minimum memory traffic of one step (`what` is "step") or one solve for each phase, in words (values of a field) per
/// point: docs/performance.md, What is counted. Phases not named move few words. `lines_twice`: the tridiagonal
/// solvers read each line twice, as they must where z is split.
std::map<std::string, double> min_words(const std::string& what, const std::array<std::int64_t, 3>& cells,
                                        const FlowParameters& flow, const ProcessGrid& processes, bool lines_twice);

}  // namespace sluice
