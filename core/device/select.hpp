#pragma once
// Which GPU a rank uses.
#include <mpi.h>

#include <string>
#include <vector>

namespace sluice::device {

/// Chooses this rank's GPU: the first that it sees and no lower rank of its host has. So rank n takes GPU n if all
/// ranks see all GPUs of the host, and its own if the launcher shows it no other. Throws Error(resources) if a rank
/// finds none. Parts of a divided GPU count as different for a rank that sees several of them. Nothing to do in a CPU
/// build. Collective.
void select(MPI_Comm world);

/// For each rank of a host, the position of its GPU among those that it sees. `visible`: their names, unique on the
/// host. Throws Error(resources) as select() does.
std::vector<int> gpus_of_ranks(const std::vector<std::vector<std::string>>& visible);

}  // namespace sluice::device
