#pragma once
// Communicators, and errors on one rank that all ranks must throw.
#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

namespace sluice {

/// Number of ranks, and this rank's number. Local.
int size_of(MPI_Comm comm);
int rank_of(MPI_Comm comm);

/// The number in `world` of each rank of `comm`, whose ranks are all in `world`. Local.
std::vector<int> ranks_in(MPI_Comm world, MPI_Comm comm);

/// Runs `action` on every rank of `comm`. If it throws on any rank, every rank throws the same Error: that of
/// the lowest rank that failed. `action` must not itself wait for other ranks after a point where it may
/// throw. Collective.
void run_collectively(MPI_Comm comm, const std::function<void()>& action);

/// Runs `action` on rank 0 alone; a failure is thrown on every rank. Collective.
void run_on_root(MPI_Comm comm, const std::function<void()>& action);

/// Sends rank 0's text to all ranks. Collective.
void broadcast(std::string& text, MPI_Comm comm);

/// Throws an MPI error as an Error of exit code 1.
void check_mpi(int status, const char* what);

}  // namespace sluice
