#include "poisson/fft/redistribution.hpp"

#include <utility>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice {

namespace {

using Complex = std::complex<real>;

/// Whether the ranks' boxes are parts along the slowest axis in memory.
bool split_slowest(const std::vector<Box3>& boxes) {
  return boxes.front().lo[2] != boxes.back().lo[2];
}

}  // namespace

Redistribution::Side::Side(const Box3& own, const std::vector<Box3>& others, int arrays_together)
    : whole(own), arrays(arrays_together), in_order(arrays == 1 && split_slowest(others)) {
  std::int64_t elements = 0;
  for (const Box3& other : others) {
    blocks.push_back(intersect(own, other));
    elements += blocks.back().volume();
  }
  SLUICE_REQUIRE(elements == own.volume(), "the boxes of a splitting do not fill the array");
}

/// Blocks without gaps, with a place for the rank's own block.
BlockLayout Redistribution::Side::layout(int rank) const {
  BlockLayout layout;
  for (std::size_t peer = 0; peer < blocks.size(); ++peer) {
    const std::size_t bytes = static_cast<std::size_t>(arrays * blocks[peer].volume()) * sizeof(Complex);
    layout.offset.push_back(layout.total);
    layout.bytes.push_back(static_cast<int>(peer) == rank ? 0 : bytes);
    layout.total += bytes;
  }
  return layout;
}

/// The own part first, then those of the next ranks, so that not all ranks send to the same one.
Parts Redistribution::Side::parts_of(Complex* array, int rank) const {
  const int size = static_cast<int>(blocks.size());
  const BlockLayout places = layout(rank);
  Parts parts;
  for (int step = 0; step < size; ++step) {
    const int peer = (rank + step) % size;
    const Box3 block = blocks[static_cast<std::size_t>(peer)].relative_to(whole.lo);
    for (int n = 0; n < arrays; ++n) {
      ArrayPart part = part_of(contiguous_view(array + n * whole.volume(), whole.nx(), whole.ny(), whole.nz()), block);
      if (in_order)
        part = part.packed_at(reinterpret_cast<std::byte*>(array) + places.offset[static_cast<std::size_t>(peer)]);
      parts.push_back({peer, part});
    }
  }
  return parts;
}

Redistribution::Redistribution(MPI_Comm comm, const std::vector<Box3>& from, const std::vector<Box3>& to, int count,
                               Shared shared, Exchange& exchange)
    : rank_(rank_of(comm)),
      route_{comm, from, to, shared, count},
      moves_(exchange.sends_unpacked() ? count : 1),
      source_(from[static_cast<std::size_t>(rank_)], to, count / moves_),
      target_(to[static_cast<std::size_t>(rank_)], from, count / moves_) {
  remote_ = exchange.remote_mover(route_);
  if (remote_) return;
  const Route route{comm, source_.layout(rank_), target_.layout(rank_), Traffic::all_to_all, &timers_};
  if (exchange.sends_unpacked()) {
    mover_ = exchange.array_mover(route);
    return;
  }
  std::unique_ptr<BlockMover> blocks = exchange.block_mover(route);
  blocks_ = blocks.get();
  mover_ = std::move(blocks);
}

Complex* Redistribution::open(Complex* target) {
  if (remote_) return route_.shared == Shared::from ? shared() : target;
  if (blocks_ == nullptr || !source_.in_order) return target;
  std::byte* const sent = blocks_->open();  // null if blocks are packed into the receivers' memory
  return sent != nullptr ? reinterpret_cast<Complex*>(sent) : target;
}

Complex* Redistribution::run(Complex* source, Complex* target) {
  if (remote_) {
    const bool writes = route_.shared == Shared::to;
    begin();
    move(writes ? source : target, {0, (writes ? source_ : target_).whole.extent(2)}, true);
    end();
    return writes ? shared() : target;
  }
  if (blocks_ != nullptr && target_.in_order) target = reinterpret_cast<Complex*>(blocks_->incoming_blocks());
  for (int n = 0; n < moves_; ++n) {
    mover_->start(source_.parts_of(source + n * source_.whole.volume(), rank_),
                  target_.parts_of(target + n * target_.whole.volume(), rank_));
    std::swap(timers_, later_timers_);  // a mover packs in start() and unpacks in finish()
    mover_->finish();
    std::swap(timers_, later_timers_);
  }
  return target;
}

Redistribution::Times Redistribution::times() {
  Times times;
  for (const bool later : {false, true}) {
    for (const PhaseTimers::Total& total : (later ? later_timers_ : timers_).phases()) {
      double& sum = total.phase == TimedPhase::communication ? times.communication
                    : later                                  ? times.unpacking
                                                             : times.packing;
      sum += total.seconds;
    }
  }
  return times;
}

RowsElsewhere Redistribution::own_rows() const {
  const Box3& own = (route_.shared == Shared::to ? source_ : target_).whole;
  const Box3& there = (route_.shared == Shared::to ? target_ : source_).whole;
  const Box3 kept = intersect(own, there);
  if (route_.arrays > 1 || kept.empty() || kept.extent(2) != own.extent(2)) return {};
  if (kept.extent(0) != own.extent(0) || kept.extent(0) != there.extent(0)) return {};
  const Box3 rows = kept.relative_to(own.lo);
  const Box3 place = kept.relative_to(there.lo);
  const std::int64_t plane = there.extent(0) * there.extent(1);
  return {shared() + (place.lo[1] * there.extent(0) + place.lo[2] * plane), static_cast<int>(rows.lo[1]),
          static_cast<int>(rows.hi[1]), plane};
}

void Redistribution::begin() {
  const PhaseTimers::Scope timing(timers_, TimedPhase::communication);
  remote_->begin();
}

void Redistribution::move(Complex* array, const PlaneRange& planes, bool with_own_part) {
  const PhaseTimers::Scope timing(timers_, TimedPhase::packing);  // what loops move
  Box3 piece = (route_.shared == Shared::to ? source_ : target_).whole;
  piece.hi[2] = piece.lo[2] + planes.last;
  piece.lo[2] += planes.first;
  remote_->move(reinterpret_cast<std::byte*>(array), piece, with_own_part);
}

void Redistribution::await(std::size_t piece) {
  const PhaseTimers::Scope timing(timers_, TimedPhase::communication);
  remote_->await(piece);
}

void Redistribution::end() {
  const PhaseTimers::Scope timing(timers_, TimedPhase::communication);
  remote_->end();
}

}  // namespace sluice
