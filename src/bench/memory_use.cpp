#include "src/bench/memory_use.hpp"

#include <unistd.h>

#include <fstream>

#include "core/device/memory.hpp"

namespace sluice {

double resident_bytes(MPI_Comm comm) {
  double bytes = 0;
  if (device::is_gpu()) {
    bytes = static_cast<double>(device::allocated_bytes());
  } else {
    std::ifstream statm("/proc/self/statm");
    double total_pages = 0;
    double resident_pages = 0;
    double shared_pages = 0;
    statm >> total_pages >> resident_pages >> shared_pages;
    bytes = (resident_pages - shared_pages) * static_cast<double>(sysconf(_SC_PAGESIZE));
  }
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, comm);
  return bytes;
}

}  // namespace sluice
