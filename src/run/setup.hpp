#pragma once
// From the case file's plain values to what the solver is built from.
#include <string>

#include "core/decomp/decomposition.hpp"
#include "io/case/case.hpp"
#include "solver/grid/grid.hpp"

namespace sluice {

/// `stretching_text`: content of the file of face coordinates, for grid.stretching of type file. Throws Error(usage).
Grid make_grid(const io::Case& settings, const std::string& stretching_text);

/// The process grid that the case asks for, or the one chosen for `ranks` ranks: z-slabs as far as the z blocks allow,
/// because they exchange planes only. Throws Error(resources) or Error(usage) when no grid fits.
ProcessGrid choose_process_grid(const io::Case& settings, int ranks);

}  // namespace sluice
