#pragma once
// How accurate the statistics of a run are, from its statistics.h5.
#include <string>
#include <vector>

#include "io/case/case.hpp"
#include "model/accuracy.hpp"
#include "model/key_figures.hpp"

namespace sluice {

/// What the key figures of a case depend on beside its statistics. `z_face`: both walls included.
StatisticsFlow statistics_flow(const io::Case& settings, std::vector<double> z_face);

/// Of the last blocks in the file, as far as they were sampled under the parameters of the case: as a run of the case
/// finds it at the end of a block. Without such blocks, Accuracy::blocks is 0. Local. Throws Error(restart).
Accuracy stored_accuracy(const std::string& file, const io::Case& settings);

}  // namespace sluice
