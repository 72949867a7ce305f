#pragma once
#include <mpi.h>

#include "core/support/owned_comm.hpp"

namespace sluice {

/// The ranks of `world` on this rank's host, in their order in `world`, as exchange methods see them.
///
/// For tests, the environment variable SLUICE_EMULATED_HOSTS names a host for each rank of MPI_COMM_WORLD, such as
/// a,a,b,b: ranks of one host with different names then count as ranks of different hosts. Throws Error(usage), on all
/// ranks, if it has another number of names than there are ranks, or differs between ranks. Collective.
OwnedComm ranks_of_host(MPI_Comm world);

}  // namespace sluice
