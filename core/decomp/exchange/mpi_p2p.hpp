#pragma once
#include "core/decomp/exchange/mpi_buffers.hpp"

namespace sluice {

/// A connection by MPI_Isend and MPI_Irecv to every peer; blocks are handed over in order of arrival. Collective over
/// `world`.
std::unique_ptr<Connection> connect_p2p(MPI_Comm world, MPI_Comm comm, const BlockLayout& send,
                                        const BlockLayout& receive, MpiBuffers& buffers);

/// Such connections only.
class MpiP2p : public MpiExchange {
 public:
  using MpiExchange::MpiExchange;
  std::unique_ptr<Connection> connect(MPI_Comm comm, const BlockLayout& send, const BlockLayout& receive,
                                      Traffic traffic) override;
};

}  // namespace sluice
