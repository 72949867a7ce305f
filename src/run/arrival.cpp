#include "src/run/arrival.hpp"

#include <unistd.h>

#include "core/device/timers.hpp"

namespace sluice {

bool all_arrive(MPI_Comm comm, double seconds) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Ibarrier(comm, &request) != MPI_SUCCESS) return false;
  const double start = wall_seconds();
  int arrived = 0;
  while (arrived == 0) {
    if (MPI_Test(&request, &arrived, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (arrived != 0) break;
    if (wall_seconds() - start >= seconds) return false;
    usleep(1000);
  }
  return true;
}

}  // namespace sluice
