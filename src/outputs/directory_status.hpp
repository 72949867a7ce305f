#pragma once
#include <string>

namespace sluice {

/// What `sluice info DIR` prints: whether the run goes on, how far it is, which checkpoint is intact, and how to go on.
/// Reads little, and verifies only the newest checkpoints; `sluice verify` reads everything. Local. Throws Error(usage)
/// if there is no such directory or nothing in it is from a run.
std::string directory_status(const std::string& directory);

}  // namespace sluice
