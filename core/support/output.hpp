#pragma once
// Standard output: what a command prints must arrive, or the command fails.
#include <optional>

#include "core/support/error.hpp"

namespace sluice {

/// Sends what was printed. Throws Error(io) if any of it could not be written, since the start or the last failure.
void flush_output();

/// The error of standard output if writing to it has failed. `reason`: errno of the failure, 0 if it is not known.
/// What waits to be written is dropped and the failure is forgotten, so that it is reported once.
std::optional<Error> output_error(int reason);

}  // namespace sluice
