#pragma once
#include <mpi.h>

#include <memory>

#include "core/decomp/exchange/exchange.hpp"

namespace sluice {

/// An exchange method that decides for each pair of ranks: `peer` between ranks of one host, `between` for all others.
/// `between` must be made for the ranks of `world`, and must write no more of its receive buffer than the blocks that
/// it receives. `world` must outlive the exchange. Collective over `world`. Call require_peer_within_hosts() first.
std::unique_ptr<Exchange> make_hierarchical(MPI_Comm world, std::unique_ptr<Exchange> between);

}  // namespace sluice
