#pragma once
#include <mpi.h>

namespace sluice {

/// Memory that all ranks hold now, in bytes: the resident set of the processes, or the device memory of a GPU build.
/// Collective.
double resident_bytes(MPI_Comm comm);

}  // namespace sluice
