#pragma once
#include <nccl.h>

#include <vector>

#include "core/decomp/exchange/exchange.hpp"
#include "core/device/buffer.hpp"

namespace sluice {

/// Sends and receives of NCCL in one group, in order with the loops and without waiting on the host.
class Nccl : public Exchange {
 public:
  /// Joins the ranks of `world`. Collective.
  explicit Nccl(MPI_Comm world);
  ~Nccl() override;
  MPI_Comm world() const override { return world_; }
  std::unique_ptr<Connection> connect(MPI_Comm comm, const BlockLayout& send, const BlockLayout& receive,
                                      Traffic traffic) override;

 private:
  class Link;

  MPI_Comm world_ = MPI_COMM_NULL;
  ncclComm_t nccl_ = nullptr;  ///< of all ranks: one serves rows and columns, whose ranks are translated
  Buffer<std::byte> send_, receive_;
};

}  // namespace sluice
