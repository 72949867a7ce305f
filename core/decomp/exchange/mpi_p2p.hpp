#pragma once
#include "core/decomp/exchange/mpi_buffers.hpp"

namespace sluice {

/// By MPI_Isend and MPI_Irecv to every peer; blocks are handed over in order of arrival.
class MpiP2p : public MpiExchange {
 public:
  using MpiExchange::MpiExchange;

 protected:
  std::unique_ptr<Connection> connect(const Route& route) override;
};

}  // namespace sluice
