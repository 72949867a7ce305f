// The program: finds the subcommand, runs it, and converts errors to one message and an exit code.
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "core/device/timers.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "core/support/output.hpp"
#include "src/commands/commands.hpp"
#include "src/run/mpi_session.hpp"
#include "src/run/stop_control.hpp"

namespace {

using sluice::Error;
using sluice::MpiSession;

/// Waits until all ranks have the error, but not for ever: some may wait for a message that never comes.
/// Not at all if MPI fails.
bool all_ranks_are_here() {
  MPI_Request all_here = MPI_REQUEST_NULL;
  if (MPI_Ibarrier(MPI_COMM_WORLD, &all_here) != MPI_SUCCESS) return false;
  constexpr double patience = 5;  // seconds
  const double start = sluice::wall_seconds();
  int agreed = 0;
  while (agreed == 0 && sluice::wall_seconds() - start < patience) {
    if (MPI_Test(&all_here, &agreed, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (agreed == 0) usleep(1000);
  }
  return agreed != 0;
}

/// Ends the process after an error. If all ranks have the error, rank 0 prints it and all leave through MPI_Finalize.
/// If only some ranks have it, these print it and abort the others.
int leave(const Error& error, const MpiSession& mpi) {
  const bool together = !mpi.started() || all_ranks_are_here();
  if (!together || sluice::rank_of(mpi.processes()) == 0) {
    std::fprintf(stderr, "sluice: %s\n", error.what());
    try {
      sluice::flush_output();
    } catch (const Error& lost) {
      std::fprintf(stderr, "sluice: %s\n", lost.what());
    }
    std::fflush(stderr);
  }
  const int code = static_cast<int>(error.code());
  if (!together) MPI_Abort(MPI_COMM_WORLD, code);  // unchecked: the run is ending
  return code;
}

int run(int argc, char** argv, MpiSession& mpi) {
  try {
    const sluice::ExitCode code = sluice::run_command_line(argc, argv, mpi);
    sluice::run_on_root(mpi.processes(), sluice::flush_output);
    return static_cast<int>(code);
  } catch (...) {
    return leave(sluice::current_error(), mpi);
  }
}

}  // namespace

int main(int argc, char** argv) {
  sluice::StopControl::catch_signals();  // first of all: a signal during the start of MPI must not end a run
  std::signal(SIGXFSZ, SIG_IGN);         // a file that grows too large is then an error of its writer only
  MpiSession mpi;
  return run(argc, argv, mpi);
}
