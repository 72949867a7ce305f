#pragma once
#include <mpi.h>

namespace sluice {

/// Memory now held by all ranks together, in bytes: resident set of the processes, or device memory in a GPU build.
/// Collective.
double resident_bytes(MPI_Comm comm);

}  // namespace sluice
