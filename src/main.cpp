// The program: finds the subcommand, runs it, and converts errors to one message and an exit code.
#include <mpi.h>

#include <csignal>
#include <cstdio>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "core/support/output.hpp"
#include "io/files/hdf5_parallel.hpp"
#include "src/commands/commands.hpp"
#include "src/run/arrival.hpp"
#include "src/run/mpi_session.hpp"
#include "src/run/stop_control.hpp"

namespace {

using sluice::Error;
using sluice::MpiSession;

constexpr double patience = 5;  ///< seconds; some ranks may wait for a message that never comes

/// Ends the process after an error. If all ranks have the error, rank 0 prints it and all leave through MPI_Finalize.
/// If only some ranks have it, these print it and abort the others. Rank 0 does so where MPI_Finalize would wait.
int leave(const Error& error, const MpiSession& mpi) {
  const bool together = !mpi.started() || sluice::all_arrive(MPI_COMM_WORLD, patience);
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
  const bool alone = sluice::io::h5::is_stuck() && sluice::rank_of(mpi.processes()) == 0;
  if (!together || alone) MPI_Abort(MPI_COMM_WORLD, code);  // unchecked: the run is ending
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
