// The program: finds the subcommand, runs it, and converts errors to one message and an exit code.
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "core/device/timers.hpp"
#include "core/support/error.hpp"
#include "src/commands/commands.hpp"

namespace {

using sluice::ExitCode;

/// Ends the process after an error. If all ranks have the error, rank 0 prints it and all leave through MPI_Finalize.
/// If only some ranks have it, these print it and abort the others, which may be waiting for a message that never
/// comes.
int leave(ExitCode code, const std::string& message) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Request all_here = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &all_here);
  constexpr double patience = 5;  // seconds
  const double start = sluice::wall_seconds();
  int agreed = 0;
  while (agreed == 0 && sluice::wall_seconds() - start < patience) {
    MPI_Test(&all_here, &agreed, MPI_STATUS_IGNORE);
    if (agreed == 0) usleep(1000);
  }
  if (agreed == 0 || rank == 0) {
    std::fprintf(stderr, "sluice: %s\n", message.c_str());
    std::fflush(stderr);
  }
  if (agreed == 0) MPI_Abort(MPI_COMM_WORLD, static_cast<int>(code));
  return static_cast<int>(code);
}

int run(int argc, char** argv) {
  try {
    return static_cast<int>(sluice::run_command_line(argc, argv));
  } catch (const sluice::Error& error) {
    return leave(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return leave(ExitCode::resources, "out of memory: use more processes or nodes, or a coarser grid");
  } catch (const std::exception& error) {
    return leave(ExitCode::internal,
                 std::string("internal error: ") + error.what() + "; please report this, with the case file");
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is then an error of its writer only
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int code = run(argc, argv);
  MPI_Finalize();
  return code;
}
