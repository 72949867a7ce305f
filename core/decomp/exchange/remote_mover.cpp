#include "core/decomp/exchange/remote_mover.hpp"

#include <complex>

#include "core/support/real.hpp"

namespace sluice {

namespace {

constexpr std::size_t element_bytes = sizeof(std::complex<real>);

}  // namespace

std::int64_t RemoteRoute::row_length(const Box3& box) const {
  return (box.extent(0) + row_unit - 1) / row_unit * row_unit;
}

std::int64_t RemoteRoute::elements(const Box3& box) const {
  return box.empty() ? 0 : row_length(box) * box.extent(1) * box.extent(2);
}

ArrayPart RemoteRoute::part(std::byte* array, const Box3& whole, const Box3& box) const {
  constexpr auto element = static_cast<std::ptrdiff_t>(element_bytes);
  const std::ptrdiff_t row = element * row_length(whole);
  const std::ptrdiff_t plane = row * whole.extent(1);
  const Box3 place = box.relative_to(whole.lo);
  return {array + element * place.lo[0] + row * place.lo[1] + plane * place.lo[2],
          element_bytes,
          element_bytes * static_cast<std::size_t>(box.nx()),
          box.ny(),
          box.nz(),
          row,
          plane};
}

bool RemoteRoute::has_whole_rows(const Box3& whole, const Box3& box) const {
  return box.lo[0] == whole.lo[0] && box.hi[0] == whole.hi[0];
}

std::size_t RemoteCopies::shared_bytes() const {
  const Box3& box = route_.shared_boxes()[static_cast<std::size_t>(rank_)];
  return element_bytes * static_cast<std::size_t>(route_.arrays * route_.elements(box));
}

void RemoteCopies::add_to(std::vector<Copy>& copies, std::byte* own, std::byte* shared, int peer,
                          const Box3& piece) const {
  const Box3 box = intersect(common(rank_, peer), piece);
  if (box.empty()) return;
  const Box3& own_box = route_.own_boxes()[static_cast<std::size_t>(rank_)];
  const Box3& shared_box = route_.shared_boxes()[static_cast<std::size_t>(peer)];
  const bool contiguous = route_.has_whole_rows(own_box, box) && route_.has_whole_rows(shared_box, box);
  const bool writes = route_.shared == RemoteRoute::Shared::to;
  for (int n = 0; n < route_.arrays; ++n) {
    const auto array = [&](std::byte* first, const Box3& whole) {
      const auto bytes = static_cast<std::ptrdiff_t>(element_bytes) * route_.elements(whole);
      return route_.part(first + n * bytes, whole, box);
    };
    const ArrayPart here = array(own, own_box);
    const ArrayPart there = array(shared, shared_box);
    copies.push_back({peer, writes ? here : there, writes ? there : here, contiguous});
  }
}

}  // namespace sluice
