#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/decomp/exchange/handshake.hpp"
#include "core/decomp/exchange/hosts.hpp"
#include "core/decomp/exchange/packed_mover.hpp"
#include "core/decomp/exchange/remote_copies.hpp"
#include "core/decomp/exchange/shared_memory.hpp"
#include "core/device/stream.hpp"
#include "core/device/tuning.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "core/support/owned_comm.hpp"

namespace sluice {

namespace {

/// For the ranks of one host. Loops and copy engines directly write or read other ranks' memory: blocks in the
/// receiver's buffer, or shared arrays. Ranks wait for each other by flags in shared memory; on GPUs the device waits,
/// and the host does not.
///
/// Between any two ranks, transfers in each direction are numbered 1, 2, ... and have two flags, which only grow:
/// - `ready` = n: transfer n may begin. The owner of the accessed memory writes it into the other rank's memory.
/// - `done` = n: transfer n is over. The other rank writes it into the owner's memory.
class Peer : public Exchange {
 public:
  /// Collective. Call require_peer() first.
  explicit Peer(MPI_Comm world);
  ~Peer() override;
  MPI_Comm world() const override { return world_; }
  std::unique_ptr<BlockMover> block_mover(const Route& route) override;
  std::unique_ptr<Mover> background_mover(const Route& route) override;
  std::unique_ptr<Transposer> transposer(const Splittings& boxes) override;
  std::unique_ptr<RemoteMover> remote_mover(const RemoteRoute& route) override;

 private:
  using Word = Handshake::Word;
  enum class Copies { by_loops, by_engines };
  class Transfer;
  class Link;
  class Arrays;
  class RemoteArrays;

  /// The flags in one rank's memory for transfers to or from another.
  Word* ready(int at_rank, int other) const;
  Word* done(int at_rank, int other) const;
  /// The maximum over all ranks, so that their buffers grow together.
  std::size_t agreed(std::size_t bytes) const;
  /// Makes the receive buffers of all ranks at least as large as this rank and all others need. Collective.
  void enlarge_receive(std::size_t bytes);
  /// Makes the engines' next copies wait for the loops issued so far.
  void engines_wait_for_loops() {
    issued_.record();
    engines_.wait_for(issued_);
  }
  std::unique_ptr<BlockMover> block_mover(const Route& route, Copies copies);

  OwnedComm world_;  ///< freed after the memory shared over it
  int rank_, size_;
  SharedMemory flags_, receive_;
  std::vector<Word> made_;    ///< transfers into or out of the memory of each rank so far
  std::vector<Word> served_;  ///< transfers by each rank into or out of this one's
  device::Stream engines_;    ///< copies of remote movers and in the background
  device::Event issued_;      ///< loops before such a copy
  std::unique_ptr<Peer> background_;
};

/// Brackets the loops of a transfer: between begin() and end(), `guests` may access this rank's memory, and this rank
/// may access the memory of its `hosts`. Both are numbered in the exchange's world.
class Peer::Transfer {
 public:
  Transfer(Peer& exchange, std::vector<int> guests, std::vector<int> hosts)
      : exchange_(&exchange), guests_(std::move(guests)), hosts_(std::move(hosts)) {}

  /// Tells the guests that this rank no longer uses its memory (the loops that did were issued before). Waits for the
  /// same from the hosts.
  void begin() {
    Handshake handshake;
    for (const int guest : guests_)
      handshake.tell(exchange_->ready(guest, exchange_->rank_), number(exchange_->served_, guest) + 1);
    for (const int host : hosts_)
      handshake.await(exchange_->ready(exchange_->rank_, host), number(exchange_->made_, host) + 1);
    handshake.issue(exchange_->world_);
  }

  void end() {
    Handshake handshake;
    for (const int host : hosts_)
      handshake.tell(exchange_->done(host, exchange_->rank_), ++number(exchange_->made_, host));
    for (const int guest : guests_)
      handshake.await(exchange_->done(exchange_->rank_, guest), ++number(exchange_->served_, guest));
    handshake.issue(exchange_->world_);
  }

 private:
  static Word& number(std::vector<Word>& transfers, int rank) { return transfers[static_cast<std::size_t>(rank)]; }

  Peer* exchange_;
  std::vector<int> guests_, hosts_;
};

/// A connection that knows where its blocks are in the receivers' memory.
class Peer::Link : public Connection {
 public:
  Link(Peer& exchange, const Route& route, Copies copies)
      : exchange_(&exchange),
        copies_(copies),
        in_world_(ranks_in(exchange.world_, route.comm)),
        receive_(route.receive),
        transfer_(exchange, with_blocks(receive_), with_blocks(route.send)) {
    const std::size_t size = in_world_.size();
    std::vector<unsigned long long> at_home(2 * size), at_peers(2 * size);  // offset and size of each block
    for (std::size_t peer = 0; peer < size; ++peer) {
      at_home[2 * peer] = receive_.offset[peer];
      at_home[2 * peer + 1] = receive_.bytes[peer];
    }
    check_mpi(
        MPI_Alltoall(at_home.data(), 2, MPI_UNSIGNED_LONG_LONG, at_peers.data(), 2, MPI_UNSIGNED_LONG_LONG, route.comm),
        "MPI_Alltoall");
    for (std::size_t peer = 0; peer < size; ++peer) {
      SLUICE_REQUIRE(at_peers[2 * peer + 1] == route.send.bytes[peer], "a block that its receiver does not expect");
      offset_at_peer_.push_back(at_peers[2 * peer]);
    }
  }

  std::byte* outgoing(int peer) override {
    const auto n = static_cast<std::size_t>(peer);
    return exchange_->receive_.of(in_world_[n]) + offset_at_peer_[n];
  }
  std::byte* incoming(int peer) override {
    return exchange_->receive_.of(exchange_->rank_) + receive_.offset[static_cast<std::size_t>(peer)];
  }
  std::byte* send_buffer() override { return nullptr; }
  std::byte* receive_buffer() override { return exchange_->receive_.of(exchange_->rank_); }

  void begin() override { transfer_.begin(); }

  void pack(const char* name, const PartCopies& copies) override {
    if (copies_ == Copies::by_loops) return copies.issue(name);
    exchange_->engines_wait_for_loops();
    copies.issue(exchange_->engines_);
    exchange_->engines_.record(packed_);
  }

  void run(const std::function<void(int)>& arrived) override {
    if (copies_ == Copies::by_engines) device::loops_wait_for(packed_);
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
  Copies copies_;
  device::Event packed_;  ///< by engines
  std::vector<int> in_world_;
  BlockLayout receive_;
  Transfer transfer_;
  std::vector<std::size_t> offset_at_peer_;
};

/// Arrays that all ranks of a communicator access directly: one loop writes the rank's parts into all of them, its own
/// included, or reads them.
class Peer::Arrays : public Transposer {
 public:
  Arrays(Peer& exchange, const Splittings& boxes)
      : exchange_(&exchange),
        rank_(rank_of(boxes.comm)),
        in_world_(ranks_in(exchange.world_, boxes.comm)),
        memory_(exchange.world_, exchange.agreed(std::max<std::size_t>(
                                     held_bytes(boxes.to[static_cast<std::size_t>(rank_)], boxes.element_bytes), 1))),
        transfer_(exchange, others(exchange.rank_), others(exchange.rank_)) {
    for (std::size_t peer = 0; peer < boxes.to.size(); ++peer) {
      const Box3 common = intersect(boxes.from[static_cast<std::size_t>(rank_)], boxes.to[peer]);
      parts_.push_back(transposed_part(memory_.of(in_world_[peer]), boxes.to[peer], common, boxes.element_bytes));
    }
  }

  std::byte* array() override { return memory_.of(exchange_->rank_); }
  void forward(const Parts& source) override {
    PartCopies copies;
    for (const auto& [peer, part] : source) copies.add(part, parts_[static_cast<std::size_t>(peer)]);
    visit("transpose: write to all", copies);
  }
  void backward(const Parts& target) override {
    PartCopies copies;
    for (const auto& [peer, part] : target) copies.add(parts_[static_cast<std::size_t>(peer)], part);
    visit("transpose: read from all", copies);
  }

 private:
  std::vector<int> others(int own) const {
    std::vector<int> ranks = in_world_;
    std::erase(ranks, own);
    return ranks;
  }
  void visit(const char* name, const PartCopies& copies) {
    exchange_->claim();
    transfer_.begin();
    copies.issue(name);
    transfer_.end();
    exchange_->release();
  }

  Peer* exchange_;
  int rank_;
  std::vector<int> in_world_;
  SharedMemory memory_;
  Transfer transfer_;
  std::vector<ArrayPart> parts_;  ///< of each rank's array: its intersection with this rank's from-box
};

/// Arrays in the receive buffers. A GPU's copy engines move large pieces of memory, beside its loops and faster than
/// loops would; loops move the rest.
class Peer::RemoteArrays : public RemoteMover {
 public:
  RemoteArrays(Peer& exchange, RemoteCopies copies)
      : exchange_(&exchange),
        copies_(std::move(copies)),
        rank_(rank_of(copies_.route().comm)),
        in_world_(ranks_in(exchange.world_, copies_.route().comm)),
        transfer_(exchange, those([&](int peer) { return copies_.is_accessed_by(peer); }),
                  those([&](int peer) { return copies_.accesses(peer); })) {}

  std::byte* shared() override { return exchange_->receive_.of(exchange_->rank_); }
  std::size_t shared_bytes() const override { return copies_.shared_bytes(); }
  double piece_overhead() const override { return 8 << 20; }  // best for 256^3 to 1024^3 on two H200s, within 2 %

  void begin() override {
    exchange_->claim();
    moved_ = 0;
    transfer_.begin();
  }

  void move(std::byte* own, const Box3& piece, bool with_own_part) override {
    exchange_->engines_wait_for_loops();
    const int size = static_cast<int>(in_world_.size());
    std::vector<RemoteCopies::Copy> copies;
    for (int step = with_own_part ? 0 : 1; step < size; ++step) {  // so that not all ranks access the same one
      const int peer = (rank_ + step) % size;
      copies_.add_to(copies, own, exchange_->receive_.of(in_world_[static_cast<std::size_t>(peer)]), peer, piece);
    }
    PartCopies by_loops;
    for (const auto& [peer, from, to, whole_rows] : copies) {
      const auto distance = [](std::ptrdiff_t bytes) { return static_cast<std::size_t>(bytes); };
      const std::size_t plane = distance(from.row_stride) * static_cast<std::size_t>(from.rows);
      if (peer == rank_ || !whole_rows || plane < tuning::min_bytes_by_engine) {
        by_loops.add(from, to);
      } else {
        exchange_->engines_.copy_rows(to.data, distance(to.plane_stride), from.data, distance(from.plane_stride), plane,
                                      static_cast<std::size_t>(from.planes));
      }
    }
    by_loops.issue("exchange: other ranks' memory");
    if (moved_ == done_.size()) done_.emplace_back();
    exchange_->engines_.record(done_[moved_++]);
  }

  void await(std::size_t n) override { device::loops_wait_for(done_[n]); }

  void end() override {
    if (moved_ > 0) await(moved_ - 1);
    transfer_.end();
    exchange_->release();
  }

 private:
  /// The other ranks for which `holds` is true, numbered in the exchange's world.
  template <class Condition>
  std::vector<int> those(const Condition& holds) const {
    std::vector<int> ranks;
    for (std::size_t peer = 0; peer < in_world_.size(); ++peer) {
      if (static_cast<int>(peer) != rank_ && holds(static_cast<int>(peer))) ranks.push_back(in_world_[peer]);
    }
    return ranks;
  }

  Peer* exchange_;
  RemoteCopies copies_;
  int rank_;
  std::vector<int> in_world_;
  Transfer transfer_;
  std::vector<device::Event> done_;  ///< each piece since begin()
  std::size_t moved_ = 0;
};

Peer::Peer(MPI_Comm world)
    : world_(OwnedComm::duplicate_of(world)),
      rank_(rank_of(world)),
      size_(size_of(world)),
      flags_(world_, 2 * static_cast<std::size_t>(size_) * sizeof(Word)),
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
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, world_), "MPI_Allreduce");
  return largest;
}

void Peer::enlarge_receive(std::size_t bytes) {
  const std::size_t needed = agreed(bytes);
  if (needed <= receive_.bytes()) return;
  receive_ = SharedMemory();  // freed first, so that old and new never coexist
  receive_ = SharedMemory(world_, needed);
}

std::unique_ptr<BlockMover> Peer::block_mover(const Route& route, Copies copies) {
  enlarge_receive(route.receive.total);
  return std::make_unique<PackedMover>(*this, route, std::make_unique<Link>(*this, route, copies),
                                       PackedMover::Packing::together);
}

std::unique_ptr<BlockMover> Peer::block_mover(const Route& route) {
  return block_mover(route, Copies::by_loops);
}

std::unique_ptr<Mover> Peer::background_mover(const Route& route) {
  if (!background_) background_ = std::make_unique<Peer>(world_);  // with flags of its own
  return background_->block_mover(route, Copies::by_engines);
}

std::unique_ptr<Transposer> Peer::transposer(const Splittings& boxes) {
  // Communicators of one rank share nothing; but all ranks must do the same.
  if (agreed(boxes.to.size()) == 1) return Exchange::transposer(boxes);
  return std::make_unique<Arrays>(*this, boxes);
}

std::unique_ptr<RemoteMover> Peer::remote_mover(const RemoteRoute& route) {
  RemoteCopies copies(route, rank_of(route.comm));
  enlarge_receive(copies.shared_bytes());
  return std::make_unique<RemoteArrays>(*this, std::move(copies));
}

}  // namespace

/// Throws unless all ranks are on one host and share memory. Collective.
void require_peer(MPI_Comm world) {
  const OwnedComm host = ranks_of_host(world);
  try {
    run_collectively(world, [&] {
      if (size_of(host) < size_of(world)) throw Error(ExitCode::resources, "the ranks are on several hosts");
    });
    require_shared_memory(world);
  } catch (const Error& error) {
    throw Error(ExitCode::resources,
                fmt::format("parallel.exchange: peer does not work between these ranks: {}; auto chooses a method that "
                            "does",
                            error.what()));
  }
}

std::unique_ptr<Exchange> make_peer(MPI_Comm world) {
  return std::make_unique<Peer>(world);
}

}  // namespace sluice
