#include "core/decomp/exchange/hierarchical.hpp"

namespace sluice {

std::unique_ptr<Exchange> make_nccl(MPI_Comm world);

/// `peer` within hosts, `nccl` between them.
std::unique_ptr<Exchange> make_peer_nccl(MPI_Comm world) {
  return make_hierarchical(world, make_nccl(world));
}

}  // namespace sluice
