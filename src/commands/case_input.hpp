#pragma once
#include <mpi.h>

#include <string>

#include "io/case/case.hpp"
#include "src/commands/commands.hpp"

namespace sluice {

/// A case in the form that all ranks hold.
struct CaseInput {
  io::Case settings;
  std::string stretching_text;  ///< content of the face-coordinate file, if the case has one
};

/// Reads the case file on rank 0, broadcasts it, and parses it on all ranks. Throws Error(usage) on every rank.
/// Collective.
CaseInput read_case(const CaseOptions& options, MPI_Comm comm);

}  // namespace sluice
