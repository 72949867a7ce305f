#include "core/decomp/exchange/hierarchical.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/decomp/exchange/hosts.hpp"
#include "core/decomp/exchange/remote_mover.hpp"
#include "core/decomp/exchange/shared_memory.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "core/support/owned_comm.hpp"

namespace sluice {

std::unique_ptr<Exchange> make_peer(MPI_Comm world);

namespace {

/// The ranks of a communicator on this rank's host, and what is exchanged with them and with all others.
class HostRanks {
 public:
  /// `host`: a number that the ranks of a host share. Collective over `comm`.
  HostRanks(MPI_Comm comm, int host)
      : own_(rank_of(comm)),
        comm_(OwnedComm::split(comm, host, own_)),
        in_comm_(ranks_in(comm, comm_)),
        in_host_(static_cast<std::size_t>(size_of(comm)), elsewhere) {
    for (std::size_t n = 0; n < in_comm_.size(); ++n)
      in_host_[static_cast<std::size_t>(in_comm_[n])] = static_cast<int>(n);
  }

  MPI_Comm comm() const { return comm_; }
  /// Whether the whole communicator is on this host. The same on all its ranks.
  bool are_all() const { return in_comm_.size() == in_host_.size(); }
  bool has(int peer) const { return in_host_[static_cast<std::size_t>(peer)] != elsewhere; }

  /// Those of the ranks of the host, in their order.
  std::vector<Box3> inside(const std::vector<Box3>& boxes) const {
    std::vector<Box3> chosen;
    for (const int peer : in_comm_) chosen.push_back(boxes[static_cast<std::size_t>(peer)]);
    return chosen;
  }

  Route inside(const Route& route) const {
    return {comm_, inside(route.send), inside(route.receive), route.traffic, route.timers};
  }
  /// Blocks keep their places.
  Route beyond(const Route& route) const {
    return {route.comm, beyond(route.send), beyond(route.receive), route.traffic, route.timers};
  }

  Parts inside(const Parts& parts) const {
    Parts chosen;
    for (const auto& [peer, part] : parts) {
      if (has(peer)) chosen.push_back({in_host_[static_cast<std::size_t>(peer)], part});
    }
    return chosen;
  }
  Parts beyond(const Parts& parts) const {
    Parts chosen = parts;
    std::erase_if(chosen, [this](const PeerPart& part) { return has(part.peer); });
    return chosen;
  }

 private:
  static constexpr int elsewhere = -1;

  /// With as much room for the rank's own block as the whole layout has.
  BlockLayout inside(const BlockLayout& layout) const {
    std::vector<std::size_t> bytes;
    std::size_t here = 0;
    for (const int peer : in_comm_) {
      const auto n = static_cast<std::size_t>(peer);
      if (peer == own_) here = bytes.size();
      const std::size_t end = n + 1 < layout.offset.size() ? layout.offset[n + 1] : layout.total;
      bytes.push_back(peer == own_ ? end - layout.offset[n] : layout.bytes[n]);
    }
    BlockLayout chosen = BlockLayout::of(std::move(bytes));
    chosen.bytes[here] = 0;
    return chosen;
  }
  BlockLayout beyond(const BlockLayout& layout) const {
    BlockLayout chosen = layout;
    for (const int peer : in_comm_) chosen.bytes[static_cast<std::size_t>(peer)] = 0;
    return chosen;
  }

  int own_;
  OwnedComm comm_;
  std::vector<int> in_comm_;  ///< of each rank of the host
  std::vector<int> in_host_;  ///< of each rank of the communicator, or `elsewhere`
};

/// Starts the move to other hosts first and ends it first, so that it goes on while parts are copied within the host.
/// Outgoing parts may be in the same array as incoming ones: the first start() has packed what it sends before copies
/// of the second one write there.
class Blocks : public BlockMover {
 public:
  Blocks(HostRanks ranks, std::unique_ptr<BlockMover> inside, std::unique_ptr<BlockMover> beyond)
      : ranks_(std::move(ranks)), inside_(std::move(inside)), beyond_(std::move(beyond)) {}

  std::byte* open() override { return beyond_->open(); }
  /// Blocks from ranks of this host are copied there.
  std::byte* incoming_blocks() override { return beyond_->incoming_blocks(); }
  std::size_t buffer_bytes(bool sending) const override {
    return beyond_->buffer_bytes(sending) + inside_->buffer_bytes(sending);
  }

  void start(const Parts& outgoing, const Parts& incoming) override {
    beyond_->start(ranks_.beyond(outgoing), ranks_.beyond(incoming));
    inside_->start(ranks_.inside(outgoing), ranks_.inside(incoming));
  }
  void finish() override {
    beyond_->finish();
    inside_->finish();
  }

 private:
  HostRanks ranks_;
  std::unique_ptr<BlockMover> inside_, beyond_;
};

/// Only copies within the host go on in the background; finish() does the rest.
class InBackground : public Mover {
 public:
  InBackground(HostRanks ranks, std::unique_ptr<Mover> inside, std::unique_ptr<Mover> beyond)
      : ranks_(std::move(ranks)), inside_(std::move(inside)), beyond_(std::move(beyond)) {}

  void start(const Parts& outgoing, const Parts& incoming) override {
    outgoing_ = ranks_.beyond(outgoing);
    incoming_ = ranks_.beyond(incoming);
    inside_->start(ranks_.inside(outgoing), ranks_.inside(incoming));
  }
  void finish() override {
    beyond_->move(outgoing_, incoming_);
    inside_->finish();
  }

 private:
  HostRanks ranks_;
  std::unique_ptr<Mover> inside_, beyond_;
  Parts outgoing_, incoming_;  ///< to and from other hosts
};

/// An array that the ranks of the host access directly; what other hosts send or get is packed.
class Arrays : public Transposer {
 public:
  /// `parts`: of the array, for the ranks of other hosts.
  Arrays(HostRanks ranks, std::unique_ptr<Transposer> inside, Parts parts, std::unique_ptr<Mover> forward,
         std::unique_ptr<Mover> backward)
      : ranks_(std::move(ranks)),
        inside_(std::move(inside)),
        parts_(std::move(parts)),
        forward_(std::move(forward)),
        backward_(std::move(backward)) {}

  std::byte* array() override { return inside_->array(); }
  void forward(const Parts& source) override {
    forward_->start(ranks_.beyond(source), parts_);
    inside_->forward(ranks_.inside(source));
    forward_->finish();
  }
  void backward(const Parts& target) override {
    backward_->start(parts_, ranks_.beyond(target));
    inside_->backward(ranks_.inside(target));
    backward_->finish();
  }

 private:
  HostRanks ranks_;
  std::unique_ptr<Transposer> inside_;
  Parts parts_;
  std::unique_ptr<Mover> forward_, backward_;
};

/// Two exchanges, each with movers and buffers of its own. All their movers are made collectively over all ranks, also
/// for communicators within a host, which then use that of `peer` alone.
class Hierarchical : public Exchange {
 public:
  Hierarchical(MPI_Comm world, std::unique_ptr<Exchange> between) : world_(world), between_(std::move(between)) {
    const OwnedComm host = ranks_of_host(world);
    host_ = ranks_in(world, host).front();
    in_host([&] { inside_ = make_peer(host); });
  }

  MPI_Comm world() const override { return world_; }
  std::vector<PieceTuning> piece_tuning() const override { return between_->piece_tuning(); }

  std::unique_ptr<BlockMover> block_mover(const Route& route) override {
    HostRanks ranks(route.comm, host_);
    std::unique_ptr<BlockMover> inside;
    in_host([&] { inside = inside_->block_mover(ranks.are_all() ? route : ranks.inside(route)); });
    std::unique_ptr<BlockMover> beyond = beyond_mover(ranks, route);
    if (ranks.are_all()) return inside;
    return std::make_unique<Blocks>(std::move(ranks), std::move(inside), std::move(beyond));
  }

  std::unique_ptr<Mover> background_mover(const Route& route) override {
    HostRanks ranks(route.comm, host_);
    std::unique_ptr<Mover> inside;
    in_host([&] { inside = inside_->background_mover(ranks.are_all() ? route : ranks.inside(route)); });
    std::unique_ptr<Mover> beyond = beyond_mover(ranks, route);
    if (ranks.are_all()) return inside;
    return std::make_unique<InBackground>(std::move(ranks), std::move(inside), std::move(beyond));
  }

  std::unique_ptr<Transposer> transposer(const Splittings& boxes) override {
    HostRanks ranks(boxes.comm, host_);
    std::unique_ptr<Transposer> inside;
    in_host([&] {
      inside =
          inside_->transposer({ranks.comm(), ranks.inside(boxes.from), ranks.inside(boxes.to), boxes.element_bytes});
    });
    const int rank = rank_of(boxes.comm);
    const int size = static_cast<int>(boxes.to.size());
    const Box3& held = boxes.to[static_cast<std::size_t>(rank)];
    const Box3& given = boxes.from[static_cast<std::size_t>(rank)];
    Parts source, target;  // of the source only the sizes matter
    for (int step = 1; step < size; ++step) {
      const int peer = (rank + step) % size;
      if (ranks.has(peer)) continue;
      const Box3 sent = intersect(given, boxes.to[static_cast<std::size_t>(peer)]);
      const Box3 received = intersect(boxes.from[static_cast<std::size_t>(peer)], held);
      source.push_back({peer, transposed_part(nullptr, sent, sent, boxes.element_bytes)});
      target.push_back({peer, transposed_part(inside->array(), held, received, boxes.element_bytes)});
    }
    const BlockLayout first = BlockLayout::of(source, rank, size);
    const BlockLayout second = BlockLayout::of(target, rank, size);
    auto forward = between_->array_mover({boxes.comm, first, second, Traffic::all_to_all});
    auto backward = between_->array_mover({boxes.comm, second, first, Traffic::all_to_all});
    if (ranks.are_all()) return inside;
    return std::make_unique<Arrays>(std::move(ranks), std::move(inside), std::move(target), std::move(forward),
                                    std::move(backward));
  }

  /// Only if no communicator leaves its host.
  std::unique_ptr<RemoteMover> remote_mover(const RemoteRoute& route) override {
    int within = HostRanks(route.comm, host_).are_all() ? 1 : 0;
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &within, 1, MPI_INT, MPI_MIN, world_), "MPI_Allreduce");
    if (within == 0) return nullptr;
    std::unique_ptr<RemoteMover> mover;
    in_host([&] { mover = inside_->remote_mover(route); });
    return mover;
  }

 private:
  /// `action` is collective over each host alone, and so are its errors.
  template <class Action>
  void in_host(const Action& action) const {
    run_collectively(world_, action);
  }

  /// Without buffers where all ranks of the route are on one host.
  std::unique_ptr<BlockMover> beyond_mover(const HostRanks& ranks, const Route& route) {
    Route beyond = ranks.beyond(route);
    if (ranks.are_all()) beyond.send.total = beyond.receive.total = 0;
    return between_->block_mover(beyond);
  }

  MPI_Comm world_;
  int host_ = 0;  ///< the number in the world of the first rank of this host
  std::unique_ptr<Exchange> inside_, between_;
};

}  // namespace

std::unique_ptr<Exchange> make_hierarchical(MPI_Comm world, std::unique_ptr<Exchange> between) {
  return std::make_unique<Hierarchical>(world, std::move(between));
}

/// Throws unless the ranks of each host share memory. Collective.
void require_peer_within_hosts(MPI_Comm world) {
  const OwnedComm host = ranks_of_host(world);
  try {
    run_collectively(world, [&] { require_shared_memory(host); });
  } catch (const Error& error) {
    throw Error(ExitCode::resources, fmt::format("parallel.exchange: the ranks of a host do not reach each other's "
                                                 "memory: {}; auto chooses a method that works",
                                                 error.what()));
  }
}

}  // namespace sluice
