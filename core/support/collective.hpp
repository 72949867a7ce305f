#pragma once
// Communicators, and errors on one rank that all ranks must throw. With MPI_COMM_SELF these functions make no MPI call:
// code that communicates only through them works in a process that has not started MPI.
#include <mpi.h>

#include <cstdint>
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
/// throw. If MPI fails while the ranks agree, a rank throws the error of its own `action`, or else that of MPI.
/// Collective.
void run_collectively(MPI_Comm comm, const std::function<void()>& action);

/// Runs `action` on rank 0 alone; a failure is thrown on every rank. Collective.
void run_on_root(MPI_Comm comm, const std::function<void()>& action);

/// Sends rank 0's text to all ranks. Collective.
void broadcast(std::string& text, MPI_Comm comm);
void broadcast(std::vector<std::int64_t>& numbers, MPI_Comm comm);

/// The sum of all ranks' parts, modulo 2^64. Collective.
std::uint64_t sum_over(MPI_Comm comm, std::uint64_t part);

/// Throws an MPI error as an Error of exit code 1. `status`: what an MPI call returned. `what`: its name. MPI returns
/// errors instead of ending the program, so every call must be checked; .ci/check_calls.py finds those that are not.
void check_mpi(int status, const char* what);

}  // namespace sluice
