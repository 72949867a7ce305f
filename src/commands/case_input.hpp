#pragma once
#include <mpi.h>

#include <string>

#include "io/case/case.hpp"
#include "src/commands/commands.hpp"

namespace sluice {

/// A case as all ranks know it.
struct CaseInput {
  io::Case settings;
  std::string stretching_text;  ///< content of the file of face coordinates, if the case has one
};

/// Reads the case file on rank 0, sends it to all, and parses it on all alike. Throws Error(usage) on every rank.
/// Collective.
CaseInput read_case(const CaseOptions& options, MPI_Comm comm);

/// Content of a text file, read on rank 0 and sent to all. `what` names it in the message. Throws Error(usage).
/// Collective.
std::string read_shared_text(const std::string& file, const std::string& what, MPI_Comm comm);

}  // namespace sluice
