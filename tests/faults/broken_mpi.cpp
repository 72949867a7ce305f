// LD_PRELOAD library: on rank 1, MPI reports that every reduction has failed, and every barrier that does not block.
#include <mpi.h>

namespace {

bool is_broken() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 1;
}

}  // namespace

extern "C" {

// It takes place nevertheless: no other rank waits in it.
int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const int status = PMPI_Allreduce(send, receive, count, type, op, comm);
  return is_broken() ? MPI_ERR_INTERN : status;
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  return is_broken() ? MPI_ERR_INTERN : PMPI_Ibarrier(comm, request);
}

}  // extern "C"
