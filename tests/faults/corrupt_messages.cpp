// To be preloaded into the program: spoils the first number of every message that rank 0 sends.
#include <mpi.h>

extern "C" int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  int rank = 0, bytes = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Type_size(type, &bytes);
  if (rank == 0 && count > 0) {
    auto* const value = static_cast<unsigned char*>(const_cast<void*>(buffer));
    value[bytes - 1] ^= 1U;  // in the exponent of the first number
  }
  return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}
