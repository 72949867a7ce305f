#pragma once
#include <mpi.h>

#include <string>
#include <vector>

#include "io/case/case.hpp"
#include "src/run/output_lock.hpp"

namespace sluice {

/// What a run does with results that its output directory holds.
struct DirectoryOptions {
  std::string restart;        ///< "auto" or the checkpoint from which it goes on; empty: from the initial field
  bool allow_change = false;  ///< a restart accepts physical keys that differ from the checkpoint's, and lost output
  bool overwrite = false;     ///< removes the files of earlier runs
  std::string case_file;      ///< which `overwrite` leaves: it may be the resolved.yaml of an earlier run
};

/// Creates and locks the output directory, and refuses one that a run must not write to. Changes no file of earlier
/// runs. Returns warnings. For rank 0 alone. Throws Error(usage) or Error(io).
std::vector<std::string> claim_directory(const DirectoryOptions& options, const io::Case& settings, OutputLock& lock);

/// Makes the output directory ready for a run: creates and locks it, refuses one that the run must not write to, and
/// with `overwrite` removes the files of earlier runs. Returns warnings on rank 0. Collective. Throws Error(usage) or
/// Error(io).
std::vector<std::string> prepare_directory(const DirectoryOptions& options, const io::Case& settings, OutputLock& lock,
                                           MPI_Comm comm);

}  // namespace sluice
