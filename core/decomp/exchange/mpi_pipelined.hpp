#pragma once
#include "core/decomp/exchange/mpi_buffers.hpp"

namespace sluice {

/// Blocks travel in pieces, so that also the stages of one block overlap; the size of the pieces is tuned on the way.
/// Neighbours trade whole blocks: they are small.
class MpiPipelined : public MpiExchange {
 public:
  using MpiExchange::MpiExchange;
  std::unique_ptr<Connection> connect(MPI_Comm comm, const BlockLayout& send, const BlockLayout& receive,
                                      Traffic traffic) override;
};

}  // namespace sluice
