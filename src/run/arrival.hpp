#pragma once
#include <mpi.h>

namespace sluice {

/// Waits until all ranks have called this, at most so many seconds (infinity: for ever). Returns false if they have not
/// arrived by then, or at once if MPI fails; the communicator cannot be used or freed any more in that case.
bool all_arrive(MPI_Comm comm, double seconds);

}  // namespace sluice
