#pragma once
#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/exchange/mpi_buffers.hpp"

namespace sluice {

/// MPI_Isend and MPI_Irecv to every peer; blocks are handed over in order of arrival.
class MpiP2p : public Exchange {
 public:
  explicit MpiP2p(MPI_Comm /*world*/) {}
  std::unique_ptr<Connection> connect(MPI_Comm comm, const BlockLayout& send, const BlockLayout& receive,
                                      Traffic traffic) override;

 private:
  MpiBuffers buffers_;
};

}  // namespace sluice
