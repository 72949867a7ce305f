#include "core/decomp/exchange/packed_mover.hpp"

#include <algorithm>
#include <utility>

#include "core/support/collective.hpp"

namespace sluice {

PackedMover::PackedMover(Exchange& exchange, Route route, std::unique_ptr<Connection> connection, Packing packing)
    : exchange_(&exchange),
      route_(std::move(route)),
      connection_(std::move(connection)),
      packing_(packing),
      rank_(rank_of(route_.comm)) {}

std::size_t PackedMover::buffer_bytes(bool sending) const {
  if (!sending) return route_.receive.total;
  return connection_->send_buffer() != nullptr ? route_.send.total : 0;
}

void PackedMover::begin() {
  if (begun_) return;
  exchange_->claim();
  begun_ = true;
  const RouteTiming timing(route_, TimedPhase::communication);
  connection_->begin();
}

std::byte* PackedMover::open() {
  begin();
  return connection_->send_buffer();
}

void PackedMover::start(const Parts& outgoing, const Parts& incoming) {
  begin();
  incoming_ = incoming;
  std::ranges::stable_sort(incoming_, {}, &PeerPart::peer);
  const auto keep_own = [&](std::vector<ArrayPart>& own, const Parts& parts) {
    own.clear();
    for (const auto& [peer, part] : parts) {
      if (peer == rank_ && !part.empty()) own.push_back(part);
    }
  };
  keep_own(own_from_, outgoing);
  keep_own(own_to_, incoming);
  const AddressRange from = range_of(outgoing);
  const AddressRange to = range_of(incoming);
  overlap_ = from.begin < to.end && to.begin < from.end;
  own_through_block_ = !own_to_.empty() && (overlap_ || own_to_.front().data == connection_->incoming(rank_));
  if (packing_ == Packing::together) {  // small blocks, for neighbours; or written straight to the receivers
    pack_together(outgoing);
  } else {  // transposes
    pack(outgoing);
  }
  const RouteTiming timing(route_, TimedPhase::communication);
  connection_->depart();
}

/// Packs each block by its own loops, except for parts that are already in it; then copies the own parts directly,
/// unless they go through their block.
void PackedMover::pack(const Parts& outgoing) {
  for (auto part = outgoing.begin(); part != outgoing.end();) {
    const int peer = part->peer;
    PartCopies copies;
    std::byte* block = peer == rank_ ? nullptr : connection_->outgoing(peer);
    for (; part != outgoing.end() && part->peer == peer; ++part) {
      if (peer == rank_ || part->part.empty()) continue;
      if (part->part.data != block) copies.add(part->part, part->part.packed_at(block));
      block += part->part.bytes();
    }
    if (peer == rank_) continue;
    issue("exchange: pack", copies);
    connection_->packed(peer);
  }
  if (own_through_block_) return;
  PartCopies own;
  add_own(own);
  issue("exchange: own part", own);
}

void PackedMover::add_own(PartCopies& copies) const {
  std::byte* block = own_through_block_ ? connection_->incoming(rank_) : nullptr;
  for (std::size_t n = 0; n < own_from_.size(); ++n) {
    copies.add(own_from_[n], own_through_block_ ? own_from_[n].packed_at(block) : own_to_[n]);
    block += own_from_[n].bytes();
  }
}

void PackedMover::pack_together(const Parts& outgoing) {
  PartCopies copies;
  std::byte* block = nullptr;
  int peer = -1;
  for (const PeerPart& part : outgoing) {
    if (part.peer == rank_ || part.part.empty()) continue;
    if (std::exchange(peer, part.peer) != part.peer) block = connection_->outgoing(part.peer);
    copies.add(part.part, part.part.packed_at(block));
    block += part.part.bytes();
  }
  add_own(copies);
  const RouteTiming timing(route_, TimedPhase::packing);
  connection_->pack("exchange: pack", copies);
}

void PackedMover::finish() {
  const bool unpack_on_arrival = packing_ == Packing::each && !overlap_;
  {
    std::optional<RouteTiming> timing(std::in_place, route_, TimedPhase::communication);
    connection_->run([&](int peer) {
      if (!unpack_on_arrival) return;
      timing.reset();
      PartCopies copies;
      unpack(copies, peer);
      issue("exchange: unpack", copies);
      timing.emplace(route_, TimedPhase::communication);
    });
  }
  // The own parts come last, because some methods overwrite the whole receive buffer.
  if (own_through_block_ && packing_ == Packing::each) {
    PartCopies own;
    add_own(own);
    issue("exchange: own part", own);
  }
  if (!unpack_on_arrival) {
    PartCopies copies;
    for (auto part = incoming_.begin(); part != incoming_.end();) {
      const int peer = part->peer;
      if (peer != rank_ || own_through_block_) unpack(copies, peer);
      while (part != incoming_.end() && part->peer == peer) ++part;
    }
    issue("exchange: unpack", copies);
  }
  begun_ = false;
  exchange_->release();
}

/// Adds the copies of the parts from `peer`, except for those that stay in their block.
void PackedMover::unpack(PartCopies& copies, int peer) const {
  std::byte* block = connection_->incoming(peer);
  for (const auto& [from, part] : std::ranges::equal_range(incoming_, peer, {}, &PeerPart::peer)) {
    if (part.empty()) continue;
    if (part.data != block) copies.add(part.packed_at(block), part);
    block += part.bytes();
  }
}

void PackedMover::issue(const char* name, const PartCopies& copies) {
  const RouteTiming timing(route_, TimedPhase::packing);  // also of nothing, so that all ranks time the same phases
  copies.issue(name);
}

}  // namespace sluice
