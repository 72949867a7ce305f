#pragma once
#include <string>
#include <vector>

#include "io/files/statistics_file.hpp"
#include "model/accuracy.hpp"
#include "model/key_figures.hpp"
#include "model/statistics_block.hpp"
#include "solver/statistics/statistics.hpp"
#include "src/outputs/companions.hpp"
#include "src/outputs/observer.hpp"

namespace sluice {

/// The coordinates and attributes of statistics.h5, spectra.h5 or densities.h5. Local.
io::StatisticsSpec sampled_file_spec(const RunContext& run, const SampledOutput& output,
                                     const std::vector<ProfileInfo>& profiles);

/// The parameters that a block of statistics is stored with. Local.
io::Values sampled_parameters(const io::Case& settings);

/// What statistics.h5 has beside the moments.
StatisticsContent statistics_content(const io::OutputSpec& output);

/// What the key figures of a case depend on beside its statistics. `z_face`: both walls included.
StatisticsFlow statistics_flow(const io::Case& settings, std::vector<double> z_face);

/// The accuracy of the statistics in a statistics.h5, as a run of the case finds it at the end of a block: from the
/// last blocks that were sampled under the parameters of the case. Without such blocks, Accuracy::blocks is 0. Local.
/// Throws Error(restart).
Accuracy stored_accuracy(const std::string& file, const io::Case& settings);

}  // namespace sluice
