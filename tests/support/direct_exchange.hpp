#pragma once
// An exchange for CPU builds that reaches other ranks' memory, as `peer` does on GPUs, and spoils what the users of its
// buffers must not count on.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/decomp/exchange/packed_mover.hpp"
#include "core/decomp/exchange/remote_copies.hpp"
#include "core/support/owned_comm.hpp"

namespace sluice::test {

/// Memory of every rank of `world` that all of them reach: they are on one host. Made and destroyed collectively.
class SharedWindow {
 public:
  SharedWindow(MPI_Comm world, std::size_t bytes) {
    void* own = nullptr;
    MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes + alignment), 1, MPI_INFO_NULL, world, &own, &window_);
  }
  SharedWindow(const SharedWindow&) = delete;
  SharedWindow& operator=(const SharedWindow&) = delete;
  ~SharedWindow() { MPI_Win_free(&window_); }

  /// MPI aligns a window to 8 bytes; it begins at the same place of a page on all ranks.
  std::byte* of(int rank) const {
    MPI_Aint bytes = 0;
    int unit = 0;
    void* base = nullptr;
    MPI_Win_shared_query(window_, rank, &bytes, &unit, &base);
    const std::size_t beyond = reinterpret_cast<std::uintptr_t>(base) % alignment;
    return static_cast<std::byte*>(base) + (alignment - beyond);
  }

 private:
  static constexpr std::size_t alignment = 64;  ///< bytes

  MPI_Win window_ = MPI_WIN_NULL;
};

/// Collective, as Exchange says.
class DirectExchange : public Exchange {
 public:
  explicit DirectExchange(MPI_Comm world) : world_(OwnedComm::duplicate_of(world)) {}

  MPI_Comm world() const override { return world_; }
  std::unique_ptr<BlockMover> block_mover(const Route& route) override {
    enlarge_window(route.receive.total);
    return std::make_unique<PackedMover>(*this, route, std::make_unique<Link>(*this, route),
                                         PackedMover::Packing::together);
  }
  std::unique_ptr<Transposer> transposer(const Splittings& boxes) override {
    return std::make_unique<Arrays>(*this, boxes);
  }
  std::unique_ptr<RemoteMover> remote_mover(const RemoteRoute& route) override {
    RemoteCopies copies(route, rank_of(route.comm));
    enlarge_window(copies.shared_bytes());
    return std::make_unique<RemoteArrays>(*this, std::move(copies));
  }

 private:
  class Link : public Connection {
   public:
    Link(DirectExchange& exchange, const Route& route)
        : exchange_(&exchange),
          comm_(route.comm),
          in_world_(ranks_in(exchange.world_, comm_)),
          receive_(route.receive),
          offset_at_peer_(receive_.offset.size()) {
      static_assert(sizeof(std::size_t) == sizeof(unsigned long long));
      MPI_Alltoall(receive_.offset.data(), 1, MPI_UNSIGNED_LONG_LONG, offset_at_peer_.data(), 1, MPI_UNSIGNED_LONG_LONG,
                   comm_);
    }

    /// What came in last is gone: other ranks may write now.
    void begin() override {
      std::memset(receive_buffer(), 0xff, receive_.total);  // all ones: not a number
      MPI_Barrier(comm_);
    }
    std::byte* outgoing(int peer) override {
      const auto n = static_cast<std::size_t>(peer);
      return exchange_->memory_of(in_world_[n]) + offset_at_peer_[n];
    }
    std::byte* incoming(int peer) override {
      return receive_buffer() + receive_.offset[static_cast<std::size_t>(peer)];
    }
    std::byte* send_buffer() override { return nullptr; }
    std::byte* receive_buffer() override { return exchange_->memory_of(rank_of(exchange_->world_)); }

    void run(const std::function<void(int)>& arrived) override {
      MPI_Barrier(comm_);
      for (std::size_t peer = 0; peer < receive_.bytes.size(); ++peer) {
        if (receive_.bytes[peer] > 0) arrived(static_cast<int>(peer));
      }
    }

   private:
    DirectExchange* exchange_;
    MPI_Comm comm_;
    std::vector<int> in_world_;
    BlockLayout receive_;
    std::vector<std::size_t> offset_at_peer_;
  };

  class Arrays : public Transposer {
   public:
    Arrays(DirectExchange& exchange, const Splittings& boxes)
        : exchange_(&exchange),
          comm_(boxes.comm),
          in_world_(ranks_in(exchange.world_, comm_)),
          own_bytes_(held_bytes(boxes.to[static_cast<std::size_t>(rank_of(comm_))], boxes.element_bytes)),
          window_(exchange.world_, exchange.agreed(own_bytes_)) {
      std::memset(array(), 0, own_bytes_);
      for (std::size_t peer = 0; peer < boxes.to.size(); ++peer) {
        const Box3 common = intersect(boxes.from[static_cast<std::size_t>(rank_of(comm_))], boxes.to[peer]);
        parts_.push_back(transposed_part(window_.of(in_world_[peer]), boxes.to[peer], common, boxes.element_bytes));
      }
    }

    std::byte* array() override { return window_.of(rank_of(exchange_->world_)); }
    void forward(const Parts& source) override {
      PartCopies copies;
      for (const auto& [peer, part] : source) copies.add(part, parts_[static_cast<std::size_t>(peer)]);
      visit(copies);
    }
    void backward(const Parts& target) override {
      PartCopies copies;
      for (const auto& [peer, part] : target) copies.add(parts_[static_cast<std::size_t>(peer)], part);
      visit(copies);
    }

   private:
    void visit(const PartCopies& copies) {
      exchange_->claim();
      MPI_Barrier(comm_);
      copies.issue("visit");
      MPI_Barrier(comm_);
      exchange_->release();
    }

    DirectExchange* exchange_;
    MPI_Comm comm_;
    std::vector<int> in_world_;
    std::size_t own_bytes_;
    SharedWindow window_;
    std::vector<ArrayPart> parts_;
  };

  class RemoteArrays : public RemoteMover {
   public:
    RemoteArrays(DirectExchange& exchange, RemoteCopies copies)
        : exchange_(&exchange), copies_(std::move(copies)), in_world_(ranks_in(exchange.world_, comm())) {}

    std::byte* shared() override { return exchange_->memory_of(rank_of(exchange_->world_)); }
    std::size_t shared_bytes() const override { return copies_.shared_bytes(); }
    double piece_overhead() const override { return 1; }  // as many pieces as possible
    void begin() override {
      exchange_->claim();
      MPI_Barrier(comm());
    }
    /// Nothing moves before await() or end(), as late as a GPU's copy engines may.
    void move(std::byte* own, const Box3& piece, bool with_own_part) override {
      std::vector<RemoteCopies::Copy> list;
      for (std::size_t peer = 0; peer < in_world_.size(); ++peer) {
        const int rank = static_cast<int>(peer);
        if (!with_own_part && rank == rank_of(comm())) continue;
        copies_.add_to(list, own, exchange_->memory_of(in_world_[peer]), rank, piece);
      }
      pieces_.emplace_back();
      for (const RemoteCopies::Copy& copy : list) pieces_.back().add(copy.from, copy.to);
    }
    void await(std::size_t n) override {
      for (; moved_ <= n; ++moved_) pieces_[moved_].issue("remote");
    }
    void end() override {
      if (!pieces_.empty()) await(pieces_.size() - 1);
      pieces_.clear();
      moved_ = 0;
      MPI_Barrier(comm());
      // What was read is gone.
      if (copies_.route().shared == RemoteRoute::Shared::from) std::memset(shared(), 0xff, shared_bytes());
      exchange_->release();
    }

   private:
    MPI_Comm comm() const { return copies_.route().comm; }

    DirectExchange* exchange_;
    RemoteCopies copies_;
    std::vector<int> in_world_;
    std::vector<PartCopies> pieces_;
    std::size_t moved_ = 0;
  };

  /// The largest of all ranks.
  std::size_t agreed(std::size_t bytes) const {
    unsigned long long largest = bytes;
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, world_);
    return largest;
  }
  void enlarge_window(std::size_t bytes) {
    const std::size_t needed = agreed(bytes);
    if (window_ && needed <= size_) return;
    window_.reset();
    window_ = std::make_unique<SharedWindow>(world_, needed);
    size_ = needed;
  }
  std::byte* memory_of(int rank) const { return window_->of(rank); }

  OwnedComm world_;
  std::unique_ptr<SharedWindow> window_;
  std::size_t size_ = 0;
};

}  // namespace sluice::test
