#pragma once
#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/exchange/mpi_buffers.hpp"

namespace sluice {

/// Blocks travel in pieces, so that also the stages of one block overlap; the size of the pieces is tuned on the way.
/// Neighbours trade whole blocks: they are small.
class MpiPipelined : public Exchange {
 public:
  explicit MpiPipelined(MPI_Comm world) : world_(world) {}
  std::unique_ptr<Connection> connect(MPI_Comm comm, const BlockLayout& send, const BlockLayout& receive,
                                      Traffic traffic) override;

 private:
  MPI_Comm world_;
  MpiBuffers buffers_;
};

}  // namespace sluice
