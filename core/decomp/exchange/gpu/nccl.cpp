#ifdef SLUICE_HIP
#include <rccl/rccl.h>  // NCCL's functions
#else
#include <nccl.h>
#endif

#include <exception>
#include <string>
#include <utility>

#include "core/decomp/exchange/packed_mover.hpp"
#include "core/device/buffer.hpp"
#include "core/device/check_cuda.hpp"
#include "core/device/together.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "core/support/owned_comm.hpp"

namespace sluice {

namespace {

void check_nccl(ncclResult_t status, const char* what) {
  if (status == ncclSuccess) return;
  throw Error(status == ncclSystemError || status == ncclUnhandledCudaError ? ExitCode::resources : ExitCode::internal,
              std::string(what) + ": " + ncclGetErrorString(status) + " (" + ncclGetLastError(nullptr) +
                  "); NCCL_DEBUG=INFO in the environment tells more");
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

  OwnedComm world_;
  ncclComm_t nccl_ = nullptr;  ///< of all ranks; ranks of rows and columns are translated
  Buffer<std::byte> send_, receive_;
};

class Nccl::Link : public BufferedConnection {
 public:
  Link(Nccl& exchange, const Route& route)
      : BufferedConnection(route, exchange.send_, exchange.receive_),
        exchange_(&exchange),
        in_world_(ranks_in(exchange.world_, route.comm)) {}

  void run(const std::function<void(int)>& arrived) override {
    constexpr cudaStream_t stream = nullptr;  // the stream of the loops: the host need not wait
    device::issue_queued();
    check_nccl(ncclGroupStart(), "ncclGroupStart");
    for (int peer = 0; peer < static_cast<int>(in_world_.size()); ++peer) {
      const auto n = static_cast<std::size_t>(peer);
      if (send_.bytes[n] > 0)
        check_nccl(ncclSend(outgoing(peer), send_.bytes[n], ncclUint8, in_world_[n], exchange_->nccl_, stream),
                   "ncclSend");
      if (receive_.bytes[n] > 0)
        check_nccl(ncclRecv(incoming(peer), receive_.bytes[n], ncclUint8, in_world_[n], exchange_->nccl_, stream),
                   "ncclRecv");
    }
    check_nccl(ncclGroupEnd(), "ncclGroupEnd");
    for (std::size_t peer = 0; peer < in_world_.size(); ++peer) {
      if (receive_.bytes[peer] > 0) arrived(static_cast<int>(peer));
    }
  }

 private:
  Nccl* exchange_;
  std::vector<int> in_world_;
};

Nccl::Nccl(MPI_Comm world) {
  ncclUniqueId id{};
  run_on_root(world, [&] { check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId"); });
  check_mpi(MPI_Bcast(&id, sizeof(id), MPI_BYTE, 0, world), "MPI_Bcast");
  // ncclCommInitRank waits for all ranks: if one fails, the others hang in it until MPI_Abort ends them.
  run_collectively(
      world, [&] { check_nccl(ncclCommInitRank(&nccl_, size_of(world), id, rank_of(world)), "ncclCommInitRank"); });
  world_ = OwnedComm::duplicate_of(world);
}

Nccl::~Nccl() {
  // ncclCommDestroy waits for the other ranks, which never call it if the error is on this rank alone.
  if (std::uncaught_exceptions() > 0) {
    ncclCommAbort(nccl_);
  } else {
    cudaStreamSynchronize(nullptr);
    ncclCommDestroy(nccl_);
  }
}

std::unique_ptr<BlockMover> Nccl::block_mover(const Route& route) {
  run_collectively(world_, [&] {
    send_.enlarge(route.send.total);
    receive_.enlarge(route.receive.total);
  });
  return std::make_unique<PackedMover>(*this, route, std::make_unique<Link>(*this, route),
                                       PackedMover::packing_for(route.traffic));
}

}  // namespace

std::unique_ptr<Exchange> make_nccl(MPI_Comm world) {
  return std::make_unique<Nccl>(world);
}

}  // namespace sluice
