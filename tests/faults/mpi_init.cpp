// LD_PRELOAD library: the start of MPI raises the signal SLUICE_SIGNAL_IN_MPI_INIT, or fails if there is none.
#include <mpi.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

extern "C" int MPI_Init(int* argc, char*** argv) {
  const char* const signal = std::getenv("SLUICE_SIGNAL_IN_MPI_INIT");
  if (signal == nullptr) {
    std::fputs("MPI was started\n", stderr);
    std::_Exit(99);
  }
  std::raise(std::atoi(signal));
  return PMPI_Init(argc, argv);
}
