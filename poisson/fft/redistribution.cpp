#include "poisson/fft/redistribution.hpp"

#include <optional>

#include "core/decomp/copy_box.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice {

namespace {

using Complex = std::complex<real>;

}  // namespace

Redistribution::Side::Side(const Box3& own, const std::vector<Box3>& others, bool blocks_in_order)
    : whole(own), in_order(blocks_in_order) {
  std::size_t elements = 0;
  for (const Box3& other : others) {
    blocks.push_back(intersect(own, other));
    offset.push_back(elements);
    elements += static_cast<std::size_t>(blocks.back().volume());
  }
  SLUICE_REQUIRE(elements == static_cast<std::size_t>(own.volume()), "the boxes of a splitting do not fill the array");
}

BlockLayout Redistribution::Side::layout(int rank) const {
  BlockLayout layout;
  for (std::size_t peer = 0; peer < blocks.size(); ++peer) {
    const auto elements = static_cast<std::size_t>(blocks[peer].volume());
    layout.offset.push_back(offset[peer] * sizeof(Complex));
    layout.bytes.push_back(static_cast<int>(peer) == rank ? 0 : elements * sizeof(Complex));
  }
  layout.total = static_cast<std::size_t>(whole.volume()) * sizeof(Complex);
  return layout;
}

Redistribution::Part Redistribution::Side::block(Complex* data, int peer) const {
  const Box3 box = blocks[static_cast<std::size_t>(peer)].local();
  return {contiguous_view(data, box.nx(), box.ny(), box.nz()), box};
}

Redistribution::Part Redistribution::Side::in_blocks(Complex* data, int peer) const {
  return block(data + offset[static_cast<std::size_t>(peer)], peer);
}

Redistribution::Part Redistribution::Side::in_array(Complex* data, int peer) const {
  if (in_order) return in_blocks(data, peer);
  return {contiguous_view(data, whole.nx(), whole.ny(), whole.nz()),
          blocks[static_cast<std::size_t>(peer)].relative_to(whole.lo)};
}

Redistribution::Redistribution(MPI_Comm comm, const std::vector<Box3>& from, const std::vector<Box3>& to, Loops loops,
                               Exchange& exchange, PhaseTimers& timers)
    : rank_(rank_of(comm)),
      size_(size_of(comm)),
      source_(from[static_cast<std::size_t>(rank_)], to, loops == Loops::unpack),
      target_(to[static_cast<std::size_t>(rank_)], from, loops == Loops::pack),
      timers_(&timers) {
  if (size_ > 1)
    connection_ = exchange.connect(comm, source_.layout(rank_), target_.layout(rank_), Traffic::all_to_all);
}

Complex* Redistribution::open(Complex* target, Complex* elsewhere) {
  SLUICE_REQUIRE(source_.in_order, "only blocks that are not packed are written before");
  if (!connection_) return target;
  const PhaseTimers::Scope scope(*timers_, "communication");
  connection_->begin();
  std::byte* const buffer = connection_->send_buffer();
  return buffer != nullptr ? reinterpret_cast<Complex*>(buffer) : elsewhere;
}

Complex* Redistribution::run(Complex* source, Complex* target) {
  if (!connection_) return source;
  if (connection_->send_buffer() == nullptr) return write_to_peers(source, target);
  send_off(source);
  auto* const received = reinterpret_cast<Complex*>(connection_->receive_buffer());
  if (target_.in_order) {
    communicate([](int) {});
    copy("redistribution: own block", source_.in_array(source, rank_), target_.in_blocks(received, rank_));
    return received;
  }
  const auto unpack = [&](int peer) {
    copy("redistribution: unpack", target_.in_blocks(received, peer), target_.in_array(target, peer));
  };
  if (source != target) {
    copy("redistribution: own block", source_.in_array(source, rank_), target_.in_array(target, rank_));
    communicate(unpack);
    return target;
  }
  // The own block stands where others are to be unpacked: it makes way once all have come in, since some exchanges
  // write over the whole buffer.
  communicate([](int) {});
  copy("redistribution: own block", source_.in_array(source, rank_), target_.in_blocks(received, rank_));
  for (int peer = 0; peer < size_; ++peer) unpack(peer);
  return target;
}

/// Where blocks are written into the memory of other ranks: those for all ranks by one loop, the own one with them, so
/// that it is copied while the others are on their way.
Complex* Redistribution::write_to_peers(Complex* source, Complex* target) {
  if (!source_.in_order) {
    const PhaseTimers::Scope scope(*timers_, "communication");
    connection_->begin();
  }
  auto* const received = reinterpret_cast<Complex*>(connection_->receive_buffer());
  const bool keep_in_blocks = target_.in_order || source == target;  // else other blocks could still stand there
  const auto own_place = keep_in_blocks ? target_.in_blocks(received, rank_) : target_.in_array(target, rank_);
  BoxCopies<Complex> out;
  for (int step = 0; step < size_; ++step) {
    const int peer = (rank_ + step) % size_;
    const Part from = source_.in_array(source, peer);
    if (from.box.empty()) continue;
    const Part to =
        peer == rank_ ? own_place : source_.block(reinterpret_cast<Complex*>(connection_->outgoing(peer)), peer);
    out.add(to.box.local(), from.array, from.box, to.array, to.box);
  }
  issue("redistribution: write to all", out);
  communicate([](int) {});
  if (target_.in_order) return received;
  BoxCopies<Complex> in;
  for (int peer = 0; peer < size_; ++peer) {
    if (peer == rank_ && !keep_in_blocks) continue;
    const Part from = target_.in_blocks(received, peer);
    const Part to = target_.in_array(target, peer);
    in.add(to.box.local(), from.array, from.box, to.array, to.box);
  }
  issue("redistribution: unpack", in);
  return target;
}

/// Packs what is not where it is sent from. The peers in turn, not all ranks to the same one at once.
void Redistribution::send_off(Complex* source) {
  const bool in_place = source_.in_order && reinterpret_cast<std::byte*>(source) == connection_->send_buffer();
  if (!source_.in_order) {
    const PhaseTimers::Scope scope(*timers_, "communication");
    connection_->begin();
  }
  for (int step = 1; step < size_; ++step) {
    const int peer = (rank_ + step) % size_;
    if (source_.blocks[static_cast<std::size_t>(peer)].empty()) continue;
    if (!in_place) {
      auto* const packed = reinterpret_cast<Complex*>(connection_->outgoing(peer));
      copy("redistribution: pack", source_.in_array(source, peer), source_.block(packed, peer));
    }
    connection_->packed(peer);
  }
}

void Redistribution::copy(const char* name, const Part& source, const Part& target) {
  const PhaseTimers::Scope scope(*timers_, "packing");
  copy_box<Complex>(name, target.box.local(), source.array, source.box, target.array, target.box);
}

void Redistribution::issue(const char* name, const BoxCopies<Complex>& copies) {
  const PhaseTimers::Scope scope(*timers_, "packing");
  copies.issue(name);
}

/// Moves the blocks; the time that arrived(peer) takes is not that of the communication.
template <class Arrived>
void Redistribution::communicate(const Arrived& arrived) {
  std::optional<PhaseTimers::Scope> scope;
  scope.emplace(*timers_, "communication");
  connection_->run([&](int peer) {
    scope.reset();
    arrived(peer);
    scope.emplace(*timers_, "communication");
  });
}

std::size_t Redistribution::send_bytes() const {
  const bool sends_from_buffer = connection_ && connection_->send_buffer() != nullptr;
  return sends_from_buffer ? source_.layout(rank_).total : 0;
}

std::size_t Redistribution::receive_bytes() const {
  return connection_ ? target_.layout(rank_).total : 0;
}

}  // namespace sluice
