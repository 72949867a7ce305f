#pragma once
#include <mpi.h>

namespace sluice {

/// Bandwidth of a = b + s c in GB/s, summed over the ranks, which run it at the same time: the reference for the phases
/// of a step. Counts three words per element. Collective.
double triad_gb_per_s(MPI_Comm comm);

}  // namespace sluice
