#pragma once
#include "core/decomp/exchange/array_image.hpp"
#include "core/decomp/exchange/mpi_buffers.hpp"

namespace sluice {

/// MPI reads and writes arrays where they lie, by derived datatypes, and packs as it sees fit: point to point. Packed
/// blocks, as halos send them, go as by mpi_p2p.
class MpiDatatype : public MpiExchange {
 public:
  using MpiExchange::MpiExchange;
  std::unique_ptr<Connection> connect(MPI_Comm comm, const BlockLayout& send, const BlockLayout& receive,
                                      Traffic traffic) override;
  std::unique_ptr<ArrayConnection> connect_arrays(MPI_Comm comm) override;

 protected:
  ArrayImage source_, target_;  ///< of whichever arrays are on their way
};

/// The same by one MPI_Alltoallw.
class MpiAlltoallw : public MpiDatatype {
 public:
  using MpiDatatype::MpiDatatype;
  std::unique_ptr<ArrayConnection> connect_arrays(MPI_Comm comm) override;
};

}  // namespace sluice
