#pragma once
#include "core/decomp/exchange/mpi_buffers.hpp"

namespace sluice {

/// MPI_Isend and MPI_Irecv with every peer; blocks are unpacked in order of arrival.
class MpiP2p : public MpiExchange {
 public:
  using MpiExchange::MpiExchange;

 protected:
  std::unique_ptr<Connection> connect(const Route& route) override;
};

}  // namespace sluice
