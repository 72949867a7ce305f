#pragma once
#include "core/decomp/exchange/mpi_buffers.hpp"

namespace sluice {

/// Each block is sent as soon as its own loops have packed it, while others are still being packed.
class MpiStreams : public MpiExchange {
 public:
  using MpiExchange::MpiExchange;
  std::unique_ptr<Connection> connect(MPI_Comm comm, const BlockLayout& send, const BlockLayout& receive,
                                      Traffic traffic) override;
};

}  // namespace sluice
