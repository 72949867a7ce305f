#pragma once
#include <string>

namespace sluice {

std::string version();       ///< of Sluice, such as 1.0.0
std::string git_revision();  ///< of the sources, with -dirty if modified; "unknown" outside a repository
std::string compiler();
std::string mpi_library();
std::string hdf5_library();  ///< such as "1.10.8 parallel"; with a serial one, output.writer can be direct only
std::string utc_now();       ///< such as 2026-01-31T23:59:59Z

/// The text of `sluice --version`: version, revision, compiler, libraries, precisions.
std::string version_text();

}  // namespace sluice
