// LD_PRELOAD library: the start of MPI raises the signal SLUICE_SIGNAL_IN_MPI_INIT, or returns an error if
// SLUICE_FAIL_MPI_INIT is set, or else ends the process.
#include <mpi.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

extern "C" int MPI_Init(int* argc, char*** argv) {
  if (std::getenv("SLUICE_FAIL_MPI_INIT") != nullptr) return MPI_ERR_OTHER;
  const char* const signal = std::getenv("SLUICE_SIGNAL_IN_MPI_INIT");
  if (signal == nullptr) {
    std::fputs("MPI was started\n", stderr);
    std::_Exit(99);
  }
  std::raise(std::atoi(signal));
  return PMPI_Init(argc, argv);
}
