#pragma once
#include <mpi.h>

#include <string>

#include "io/case/case.hpp"
#include "solver/initial.hpp"

namespace sluice {

/// The mean profile of an initial field of type turbulent: that of the case, or one that fits the forcing and the
/// walls. Reads the file of initial.profile_file on rank 0. Throws Error(usage). Collective.
TurbulentProfile initial_profile(const io::Case& settings, const Grid& grid, MPI_Comm comm);

/// A profile from the text of a file with columns z, U and perhaps V, interpolated linearly to the heights of the cell
/// centres. `file`: its name for messages. Throws Error(usage).
TurbulentProfile profile_from_text(const std::string& text, const std::string& file, const Grid& grid,
                                   const FlowParameters& flow);

}  // namespace sluice
