#include "core/decomp/exchange/remote_copies.hpp"

#include <complex>

#include "core/support/real.hpp"

namespace sluice {

namespace {

using Complex = std::complex<real>;

/// The part `box` of the nth array of the box `whole`, both in global indices.
ArrayPart part(std::byte* arrays, int n, const Box3& whole, const Box3& box) {
  Complex* const array = reinterpret_cast<Complex*>(arrays) + n * whole.volume();
  return part_of(contiguous_view(array, whole.nx(), whole.ny(), whole.nz()), box.relative_to(whole.lo));
}

}  // namespace

std::size_t RemoteCopies::shared_bytes() const {
  const Box3& box = route_.shared_boxes()[static_cast<std::size_t>(rank_)];
  return sizeof(Complex) * static_cast<std::size_t>(route_.arrays * box.volume());
}

void RemoteCopies::add_to(std::vector<Copy>& copies, std::byte* own, std::byte* shared, int peer,
                          const Box3& piece) const {
  const Box3 box = intersect(common(rank_, peer), piece);
  if (box.empty()) return;
  const Box3& own_box = route_.own_boxes()[static_cast<std::size_t>(rank_)];
  const Box3& shared_box = route_.shared_boxes()[static_cast<std::size_t>(peer)];
  const bool whole_rows = box.extent(0) == own_box.extent(0) && box.extent(0) == shared_box.extent(0);
  for (int n = 0; n < route_.arrays; ++n) {
    const ArrayPart here = part(own, n, own_box, box);
    const ArrayPart there = part(shared, n, shared_box, box);
    const bool writes = route_.shared == RemoteRoute::Shared::to;
    copies.push_back({peer, writes ? here : there, writes ? there : here, whole_rows});
  }
}

}  // namespace sluice
