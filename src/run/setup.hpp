#pragma once
// Converts the case file's plain values to the arguments of the solver.
#include <string>
#include <vector>

#include "core/decomp/decomposition.hpp"
#include "io/case/case.hpp"
#include "solver/grid/grid.hpp"

namespace sluice {

/// A case in the form that all ranks hold.
struct CaseInput {
  io::Case settings;
  std::string stretching_text;  ///< content of the face-coordinate file, if the case has one
};

/// `stretching_text`: content of the face-coordinate file, for grid.stretching of type file. Throws Error(usage).
Grid make_grid(const io::Case& settings, const std::string& stretching_text);

/// The process grids that the cells, the z blocks and the width of the halos allow for `ranks` ranks.
std::vector<ProcessGrid> process_grids(const io::Case& settings, int ranks);

/// The process grid given by the case; otherwise the default for `ranks` ranks: z-slabs as far as the z blocks allow,
/// because they exchange only planes. Throws Error(resources) or Error(usage) when no grid fits.
ProcessGrid choose_process_grid(const io::Case& settings, int ranks);

}  // namespace sluice
