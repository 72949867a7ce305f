#pragma once
#include "core/decomp/exchange/mpi_buffers.hpp"

namespace sluice {

/// One MPI_Alltoallv. Neighbours go on sending each other messages: a collective call would make every rank of a long
/// row or column wait for all others, for the sake of two blocks.
class MpiAlltoall : public MpiExchange {
 public:
  using MpiExchange::MpiExchange;
  std::unique_ptr<Connection> connect(MPI_Comm comm, const BlockLayout& send, const BlockLayout& receive,
                                      Traffic traffic) override;
};

}  // namespace sluice
