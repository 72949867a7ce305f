#include <nccl.h>

#include <exception>
#include <string>
#include <utility>

#include "core/decomp/exchange/packed_mover.hpp"
#include "core/device/buffer.hpp"
#include "core/device/check_cuda.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice {

namespace {

void check_nccl(ncclResult_t status, const char* what) {
  if (status == ncclSuccess) return;
  throw Error(status == ncclSystemError || status == ncclUnhandledCudaError ? ExitCode::resources : ExitCode::internal,
              std::string(what) + ": " + ncclGetErrorString(status) + " (" + ncclGetLastError(nullptr) +
                  "); NCCL_DEBUG=INFO in the environment tells more");
}

/// Enlarges the buffer. Frees the old array first, so that old and new never coexist.
void reserve(Buffer<std::byte>& buffer, std::size_t bytes) {
  if (bytes <= buffer.size()) return;
  buffer = Buffer<std::byte>();
  buffer = Buffer<std::byte>(bytes);
}

/// NCCL sends and receives in one group, in order with the loops. The host does not wait.
class Nccl : public Exchange {
 public:
  /// Joins the ranks of `world`. Collective.
  explicit Nccl(MPI_Comm world);
  ~Nccl() override;
  MPI_Comm world() const override { return world_; }
  std::unique_ptr<BlockMover> block_mover(const Route& route) override;

 private:
  class Link;

  MPI_Comm world_ = MPI_COMM_NULL;
  ncclComm_t nccl_ = nullptr;  ///< of all ranks; ranks of rows and columns are translated
  Buffer<std::byte> send_, receive_;
};

/// A connection whose blocks are in the two buffers of its exchange.
class Nccl::Link : public Connection {
 public:
  Link(Nccl& exchange, const Route& route)
      : exchange_(&exchange),
        in_world_(ranks_in(exchange.world_, route.comm)),
        send_(route.send),
        receive_(route.receive) {}

  std::byte* outgoing(int peer) override {
    return exchange_->send_.data() + send_.offset[static_cast<std::size_t>(peer)];
  }
  std::byte* incoming(int peer) override {
    return exchange_->receive_.data() + receive_.offset[static_cast<std::size_t>(peer)];
  }
  std::byte* send_buffer() override { return exchange_->send_.data(); }
  std::byte* receive_buffer() override { return exchange_->receive_.data(); }

  void run(const std::function<void(int)>& arrived) override {
    constexpr cudaStream_t stream = nullptr;  // the stream of the loops: the host need not wait
    check_nccl(ncclGroupStart(), "ncclGroupStart");
    for (std::size_t peer = 0; peer < in_world_.size(); ++peer) {
      if (send_.bytes[peer] > 0) {
        check_nccl(ncclSend(exchange_->send_.data() + send_.offset[peer], send_.bytes[peer], ncclUint8, in_world_[peer],
                            exchange_->nccl_, stream),
                   "ncclSend");
      }
      if (receive_.bytes[peer] > 0) {
        check_nccl(ncclRecv(exchange_->receive_.data() + receive_.offset[peer], receive_.bytes[peer], ncclUint8,
                            in_world_[peer], exchange_->nccl_, stream),
                   "ncclRecv");
      }
    }
    check_nccl(ncclGroupEnd(), "ncclGroupEnd");
    for (std::size_t peer = 0; peer < in_world_.size(); ++peer) {
      if (receive_.bytes[peer] > 0) arrived(static_cast<int>(peer));
    }
  }

 private:
  Nccl* exchange_;
  std::vector<int> in_world_;
  BlockLayout send_, receive_;
};

Nccl::Nccl(MPI_Comm world) {
  ncclUniqueId id{};
  run_on_root(world, [&] { check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId"); });
  check_mpi(MPI_Bcast(&id, sizeof(id), MPI_BYTE, 0, world), "MPI_Bcast");
  // ncclCommInitRank waits for all ranks: if one fails, the others hang in it until MPI_Abort ends them.
  run_collectively(
      world, [&] { check_nccl(ncclCommInitRank(&nccl_, size_of(world), id, rank_of(world)), "ncclCommInitRank"); });
  check_mpi(MPI_Comm_dup(world, &world_), "MPI_Comm_dup");
}

Nccl::~Nccl() {
  // ncclCommDestroy waits for the other ranks, which never call it if the error is on this rank alone.
  if (std::uncaught_exceptions() > 0) {
    ncclCommAbort(nccl_);
  } else {
    cudaStreamSynchronize(nullptr);
    ncclCommDestroy(nccl_);
  }
  MPI_Comm_free(&world_);
}

std::unique_ptr<BlockMover> Nccl::block_mover(const Route& route) {
  run_collectively(world_, [&] {
    reserve(send_, route.send.total);
    reserve(receive_, route.receive.total);
  });
  const bool small = route.traffic == Traffic::neighbours;
  return std::make_unique<PackedMover>(*this, route, std::make_unique<Link>(*this, route),
                                       small ? PackedMover::Packing::together : PackedMover::Packing::each);
}

}  // namespace

std::unique_ptr<Exchange> make_nccl(MPI_Comm world) {
  return std::make_unique<Nccl>(world);
}

}  // namespace sluice
