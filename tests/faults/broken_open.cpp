// LD_PRELOAD library: on rank 1, MPI reports that it cannot open a file of several ranks, which these have open.
#include <mpi.h>

extern "C" int MPI_File_open(MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file) {
  const int status = PMPI_File_open(comm, name, mode, info, file);
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank == 1 ? MPI_ERR_NO_SUCH_FILE : status;
}
