#pragma once
#include <vector>

#include "io/files/statistics_file.hpp"
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

}  // namespace sluice
