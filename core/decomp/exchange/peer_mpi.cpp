#include "core/decomp/exchange/hierarchical.hpp"

namespace sluice {

std::unique_ptr<Exchange> make_mpi_streams(MPI_Comm world);

/// `peer` within hosts, `mpi_streams` between them.
std::unique_ptr<Exchange> make_peer_mpi(MPI_Comm world) {
  return make_hierarchical(world, make_mpi_streams(world));
}

}  // namespace sluice
