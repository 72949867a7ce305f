#pragma once
#include <string>

#include "src/run/simulation.hpp"

namespace sluice {

/// For a run whose numerics have failed: writes the fields as they are to FOLDER/step_NNNNNNN.h5, in the format of a
/// checkpoint, in place of an older such file, and returns lines for the error message: the places where the flow is
/// worst, with the values there, and the file, or why it could not be written. Such a file is refused as a checkpoint.
/// Collective. Does not throw Error.
std::string describe_failure(Simulation& simulation, const std::string& folder, const std::string& why);

}  // namespace sluice
