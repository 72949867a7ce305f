#include "core/decomp/exchange/nccl.hpp"

#include <exception>
#include <string>
#include <utility>

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

/// Makes room. The old array is given back first, so that old and new are never held together.
void reserve(Buffer<std::byte>& buffer, std::size_t bytes) {
  if (bytes <= buffer.size()) return;
  buffer = Buffer<std::byte>();
  buffer = Buffer<std::byte>(bytes);
}

}  // namespace

/// A connection, with its blocks in the two buffers of its exchange.
class Nccl::Link : public Connection {
 public:
  Link(Nccl& exchange, MPI_Comm comm, BlockLayout send, BlockLayout receive)
      : exchange_(&exchange),
        in_world_(ranks_in(exchange.world_, comm)),
        send_(std::move(send)),
        receive_(std::move(receive)) {}

  std::byte* outgoing(int peer) override {
    return exchange_->send_.data() + send_.offset[static_cast<std::size_t>(peer)];
  }
  const std::byte* incoming(int peer) override {
    return exchange_->receive_.data() + receive_.offset[static_cast<std::size_t>(peer)];
  }
  std::byte* send_buffer() override { return exchange_->send_.data(); }
  std::byte* receive_buffer() override { return exchange_->receive_.data(); }

  void run(const std::function<void(int)>& arrived) override {
    constexpr cudaStream_t stream = nullptr;  // that of the loops: nothing needs to wait on the host
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
  // NCCL's own start waits for all ranks: one that fails leaves the others in it until MPI_Abort ends them.
  run_collectively(
      world, [&] { check_nccl(ncclCommInitRank(&nccl_, size_of(world), id, rank_of(world)), "ncclCommInitRank"); });
  check_mpi(MPI_Comm_dup(world, &world_), "MPI_Comm_dup");
}

Nccl::~Nccl() {
  // Destroying waits for the other ranks, which do not come if an error takes only this one down.
  if (std::uncaught_exceptions() > 0) {
    ncclCommAbort(nccl_);
  } else {
    cudaStreamSynchronize(nullptr);
    ncclCommDestroy(nccl_);
  }
  MPI_Comm_free(&world_);
}

std::unique_ptr<Connection> Nccl::connect(MPI_Comm comm, const BlockLayout& send, const BlockLayout& receive,
                                          Traffic /*traffic*/) {
  run_collectively(world_, [&] {
    reserve(send_, send.total);
    reserve(receive_, receive.total);
  });
  return std::make_unique<Link>(*this, comm, send, receive);
}

}  // namespace sluice
