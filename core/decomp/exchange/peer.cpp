#include "core/decomp/exchange/peer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/device/check_cuda.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice {

namespace {

constexpr int name_length = 32;
using BusName = std::array<char, name_length>;

/// Finds the GPUs of all ranks among those that this one sees, and whether it has access to them.
void require_access(const std::vector<BusName>& names, int rank) {
  const BusName& mine = names[static_cast<std::size_t>(rank)];
  int device = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  for (std::size_t peer = 0; peer < names.size(); ++peer) {
    if (static_cast<int>(peer) == rank) continue;
    if (names[peer] == mine) throw Error(ExitCode::resources, "two ranks have the same GPU");
    int other = 0;
    int access = 0;
    if (cudaDeviceGetByPCIBusId(&other, names[peer].data()) != cudaSuccess) {
      cudaGetLastError();  // or the next kernel would be blamed for it
      throw Error(ExitCode::resources, fmt::format("rank {} does not see the GPU of rank {}", rank, peer));
    }
    check_cuda(cudaDeviceCanAccessPeer(&access, device, other), "cudaDeviceCanAccessPeer");
    if (access == 0)
      throw Error(ExitCode::resources, fmt::format("the GPU of rank {} has no access to that of rank {}", rank, peer));
  }
}

void require_one_host(MPI_Comm world) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  const int here = size_of(node);
  MPI_Comm_free(&node);
  run_collectively(world, [&] {
    if (here < size_of(world)) throw Error(ExitCode::resources, "the ranks are on several hosts");
    if (here > Handshake::most_peers)
      throw Error(ExitCode::resources, fmt::format("more than {} ranks", Handshake::most_peers));
  });
}

}  // namespace

/// What frames the loops of a transfer: a rank's memory is handed to `guests` and taken back from them, while it visits
/// the memory of its `hosts`. Ranks of the exchange's world.
class Peer::Transfer {
 public:
  Transfer(Peer& exchange, std::vector<int> guests, std::vector<int> hosts)
      : exchange_(&exchange), guests_(std::move(guests)), hosts_(std::move(hosts)) {}

  /// Nothing of this rank uses the memory any more, since the loops that did were issued before: the guests may know.
  /// Waits for the same of the hosts.
  void begin() {
    SLUICE_REQUIRE(!exchange_->in_use_, "two transfers of one exchange at a time");
    exchange_->in_use_ = true;
    Handshake handshake;
    for (const int guest : guests_)
      handshake.tell(exchange_->ready(guest, exchange_->rank_), number(exchange_->served_, guest) + 1);
    for (const int host : hosts_)
      handshake.await(exchange_->ready(exchange_->rank_, host), number(exchange_->made_, host) + 1);
    handshake.issue();
  }

  void end() {
    exchange_->in_use_ = false;
    Handshake handshake;
    for (const int host : hosts_)
      handshake.tell(exchange_->done(host, exchange_->rank_), ++number(exchange_->made_, host));
    for (const int guest : guests_)
      handshake.await(exchange_->done(exchange_->rank_, guest), ++number(exchange_->served_, guest));
    handshake.issue();
  }

 private:
  static Word& number(std::vector<Word>& transfers, int rank) { return transfers[static_cast<std::size_t>(rank)]; }

  Peer* exchange_;
  std::vector<int> guests_, hosts_;
};

/// A connection: where its blocks lie in the receivers' memory.
class Peer::Link : public Connection {
 public:
  Link(Peer& exchange, MPI_Comm comm, const BlockLayout& send, BlockLayout receive)
      : exchange_(&exchange),
        in_world_(ranks_in(exchange.world_.comm, comm)),
        receive_(std::move(receive)),
        transfer_(exchange, with_blocks(receive_), with_blocks(send)) {
    const std::size_t size = in_world_.size();
    std::vector<unsigned long long> at_home(2 * size), at_peers(2 * size);  // offset and size of each block
    for (std::size_t peer = 0; peer < size; ++peer) {
      at_home[2 * peer] = receive_.offset[peer];
      at_home[2 * peer + 1] = receive_.bytes[peer];
    }
    check_mpi(MPI_Alltoall(at_home.data(), 2, MPI_UNSIGNED_LONG_LONG, at_peers.data(), 2, MPI_UNSIGNED_LONG_LONG, comm),
              "MPI_Alltoall");
    for (std::size_t peer = 0; peer < size; ++peer) {
      SLUICE_REQUIRE(at_peers[2 * peer + 1] == send.bytes[peer], "a block that its receiver does not expect");
      offset_at_peer_.push_back(at_peers[2 * peer]);
    }
  }

  std::byte* outgoing(int peer) override {
    const auto n = static_cast<std::size_t>(peer);
    return exchange_->receive_.of(in_world_[n]) + offset_at_peer_[n];
  }
  const std::byte* incoming(int peer) override {
    return exchange_->receive_.of(exchange_->rank_) + receive_.offset[static_cast<std::size_t>(peer)];
  }
  std::byte* send_buffer() override { return nullptr; }
  std::byte* receive_buffer() override { return exchange_->receive_.of(exchange_->rank_); }

  void begin() override { transfer_.begin(); }

  void run(const std::function<void(int)>& arrived) override {
    transfer_.end();
    for (std::size_t peer = 0; peer < receive_.bytes.size(); ++peer) {
      if (receive_.bytes[peer] > 0) arrived(static_cast<int>(peer));
    }
  }

 private:
  std::vector<int> with_blocks(const BlockLayout& layout) const {
    std::vector<int> ranks;
    for (std::size_t peer = 0; peer < layout.bytes.size(); ++peer) {
      if (layout.bytes[peer] > 0) ranks.push_back(in_world_[peer]);
    }
    return ranks;
  }

  Peer* exchange_;
  std::vector<int> in_world_;
  BlockLayout receive_;
  Transfer transfer_;
  std::vector<std::size_t> offset_at_peer_;
};

/// An array that every rank of a communicator visits on all the others.
class Peer::Array : public SharedArray {
 public:
  Array(Peer& exchange, MPI_Comm comm, std::size_t bytes)
      : in_world_(ranks_in(exchange.world_.comm, comm)),
        memory_(exchange.world_.comm, bytes),
        transfer_(exchange, others(exchange.rank_), others(exchange.rank_)) {}

  std::byte* of(int rank) override { return memory_.of(in_world_[static_cast<std::size_t>(rank)]); }
  void open() override { transfer_.begin(); }
  void close() override { transfer_.end(); }

 private:
  std::vector<int> others(int own) const {
    std::vector<int> ranks = in_world_;
    std::erase(ranks, own);
    return ranks;
  }

  std::vector<int> in_world_;
  SharedMemory memory_;
  Transfer transfer_;
};

Peer::OwnedComm::OwnedComm(MPI_Comm world) {
  check_mpi(MPI_Comm_dup(world, &comm), "MPI_Comm_dup");
}

Peer::OwnedComm::~OwnedComm() {
  MPI_Comm_free(&comm);
}

Peer::Peer(MPI_Comm world)
    : world_(world),
      rank_(rank_of(world)),
      size_(size_of(world)),
      flags_(world_.comm, 2 * static_cast<std::size_t>(size_) * sizeof(Word)),
      made_(static_cast<std::size_t>(size_)),
      served_(static_cast<std::size_t>(size_)) {}

Peer::~Peer() = default;

Handshake::Word* Peer::ready(int at_rank, int other) const {
  return reinterpret_cast<Word*>(flags_.of(at_rank)) + other;
}

Handshake::Word* Peer::done(int at_rank, int other) const {
  return reinterpret_cast<Word*>(flags_.of(at_rank)) + size_ + other;
}

std::size_t Peer::agreed(std::size_t bytes) const {
  unsigned long long largest = bytes;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, world_.comm), "MPI_Allreduce");
  return largest;
}

std::unique_ptr<Connection> Peer::connect(MPI_Comm comm, const BlockLayout& send, const BlockLayout& receive,
                                          Traffic /*traffic*/) {
  const std::size_t needed = agreed(receive.total);
  if (needed > receive_.bytes()) {
    receive_ = SharedMemory();  // given back first, so that old and new are never held together
    receive_ = SharedMemory(world_.comm, needed);
  }
  return std::make_unique<Link>(*this, comm, send, receive);
}

std::unique_ptr<SharedArray> Peer::share(MPI_Comm comm, std::size_t bytes) {
  return std::make_unique<Array>(*this, comm, std::max<std::size_t>(agreed(bytes), 1));
}

void Peer::require(MPI_Comm world) {
  try {
    require_one_host(world);
    int device = 0;
    std::vector<BusName> names(static_cast<std::size_t>(size_of(world)));
    BusName mine{};
    run_collectively(world, [&] {
      check_cuda(cudaGetDevice(&device), "cudaGetDevice");
      check_cuda(cudaDeviceGetPCIBusId(mine.data(), name_length, device), "cudaDeviceGetPCIBusId");
    });
    check_mpi(MPI_Allgather(mine.data(), name_length, MPI_CHAR, names.data(), name_length, MPI_CHAR, world),
              "MPI_Allgather");
    run_collectively(world, [&] { require_access(names, rank_of(world)); });
    const SharedMemory trial(world, 1);  // some containers forbid it
  } catch (const Error& error) {
    throw Error(ExitCode::resources,
                fmt::format("parallel.exchange: peer does not work between these ranks: {}; use nccl", error.what()));
  }
}

}  // namespace sluice
