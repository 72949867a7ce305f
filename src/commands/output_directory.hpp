#pragma once
#include <string>
#include <vector>

#include "io/case/case.hpp"
#include "src/commands/commands.hpp"

namespace sluice {

/// Makes the output directory ready for a run: creates and locks it, refuses one that the run must not write to, and
/// with --overwrite removes the files of earlier runs. Returns warnings on rank 0. Collective. Throws Error(usage) or
/// Error(io).
std::vector<std::string> prepare_directory(const RunOptions& options, const io::Case& settings);

}  // namespace sluice
