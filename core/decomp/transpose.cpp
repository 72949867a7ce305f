#include "core/decomp/transpose.hpp"

#include <utility>

#include "core/decomp/copy_box.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice {

namespace {

constexpr std::int64_t device_line = 128;  ///< bytes

template <class T>
BlockLayout lay_out(const std::vector<Box3>& boxes, int rank) {
  std::vector<std::size_t> bytes;
  for (std::size_t peer = 0; peer < boxes.size(); ++peer) {
    const auto elements = static_cast<std::size_t>(boxes[peer].volume());
    bytes.push_back(static_cast<int>(peer) == rank ? 0 : elements * sizeof(T));
  }
  return BlockLayout::of(std::move(bytes));
}

/// Of a source too, which an exchange does not write to.
template <class T>
ArrayPart part_of(View3<const T> view, const Box3& box) {
  if (box.empty()) return {};
  const T* first = &view(static_cast<int>(box.lo[0]), static_cast<int>(box.lo[1]), static_cast<int>(box.lo[2]));
  constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(T));
  return {reinterpret_cast<std::byte*>(const_cast<T*>(first)),
          static_cast<std::size_t>(box.nx()) * sizeof(T),
          box.ny(),
          box.nz(),
          view.stride_y * size,
          view.stride_z * size};
}

/// The array of a rank that owns `box` after the transpose.
template <class T>
View3<T> view_over(T* data, const Box3& box) {
  return contiguous_view(data, static_cast<int>(Transpose<T>::row_length(box)), box.ny(), box.nz());
}

}  // namespace

template <class T>
std::int64_t Transpose<T>::row_length(const Box3& box) {
  constexpr auto piece = device_line / static_cast<std::int64_t>(sizeof(T));
  return (box.extent(0) + piece - 1) / piece * piece;
}

template <class T>
Transpose<T>::Transpose(MPI_Comm comm, const std::vector<Box3>& from, const std::vector<Box3>& to, Exchange& exchange)
    : rank_(rank_of(comm)), to_(to) {
  SLUICE_REQUIRE(from.size() == static_cast<std::size_t>(size_of(comm)) && to.size() == from.size(),
                 "one box a rank on each side");
  const Box3& box = to[static_cast<std::size_t>(rank_)];
  const auto elements = static_cast<std::size_t>(row_length(box) * box.extent(1) * box.extent(2));
  if (from.size() > 1) shared_ = exchange.share(comm, elements * sizeof(T));
  if (!shared_) run_collectively(exchange.world(), [&] { own_ = Buffer<T>(elements); });
  transposed_ = shared_ ? transposed_of(rank_) : view_over(own_.data(), box);
  forward_ = plan(comm, from, to, exchange);
  backward_ = plan(comm, to, from, exchange);
}

template <class T>
typename Transpose<T>::Direction Transpose<T>::plan(MPI_Comm comm, const std::vector<Box3>& from,
                                                    const std::vector<Box3>& to, Exchange& exchange) const {
  Direction direction;
  direction.source = from[static_cast<std::size_t>(rank_)];
  direction.target = to[static_cast<std::size_t>(rank_)];
  for (std::size_t peer = 0; peer < from.size(); ++peer) {
    direction.outgoing.push_back(intersect(direction.source, to[peer]));
    direction.incoming.push_back(intersect(from[peer], direction.target));
  }
  if (from.size() == 1 || shared_) return direction;
  direction.arrays = exchange.connect_arrays(comm);
  if (!direction.arrays) {
    direction.connection = exchange.connect(comm, lay_out<T>(direction.outgoing, rank_),
                                            lay_out<T>(direction.incoming, rank_), Traffic::all_to_all);
  }
  return direction;
}

template <class T>
void Transpose<T>::forward(View3<const T> source) {
  if (!shared_) {
    run(forward_, source, transposed_);
    return;
  }
  visit_peers("transpose: write to all", forward_.outgoing,
              [&](BoxCopies<T>& copies, const Box3& box, View3<T> at_peer, const Box3& in_it) {
                copies.add(box.local(), source, box.relative_to(forward_.source.lo), at_peer, in_it);
              });
}

template <class T>
void Transpose<T>::backward(View3<T> target) {
  if (!shared_) {
    run(backward_, transposed_, target);
    return;
  }
  visit_peers("transpose: read from all", backward_.incoming,
              [&](BoxCopies<T>& copies, const Box3& box, View3<T> at_peer, const Box3& in_it) {
                copies.add(box.local(), at_peer, in_it, target, box.relative_to(backward_.target.lo));
              });
}

template <class T>
View3<T> Transpose<T>::transposed_of(int peer) const {
  return view_over(reinterpret_cast<T*>(shared_->of(peer)), to_[static_cast<std::size_t>(peer)]);
}

/// Copies between the shared arrays of all ranks and an array of this one, for each peer the box that they have in
/// common: add(copies, box, the peer's array, the box in it). The next rank first, not all ranks to the same one at
/// once.
template <class T>
template <class Add>
void Transpose<T>::visit_peers(const char* name, const std::vector<Box3>& boxes, const Add& add) {
  const int size = static_cast<int>(to_.size());
  BoxCopies<T> copies;
  for (int step = 0; step < size; ++step) {
    const int peer = (rank_ + step) % size;
    const Box3& box = boxes[static_cast<std::size_t>(peer)];
    add(copies, box, transposed_of(peer), box.relative_to(to_[static_cast<std::size_t>(peer)].lo));
  }
  shared_->open();
  copies.issue(name);
  shared_->close();
}

template <class T>
void Transpose<T>::run(const Direction& direction, View3<const T> source, View3<T> target) {
  if (direction.connection) direction.connection->begin();
  if (direction.connection) pack(direction, source);
  const Box3& own = direction.outgoing[static_cast<std::size_t>(rank_)];
  copy_box("transpose: own block", own.local(), source, own.relative_to(direction.source.lo), target,
           own.relative_to(direction.target.lo));
  if (direction.arrays) move(direction, source, target);
  if (!direction.connection) return;
  direction.connection->run([&](int peer) {
    const Box3& box = direction.incoming[static_cast<std::size_t>(peer)];
    const auto* packed = reinterpret_cast<const T*>(direction.connection->incoming(peer));
    copy_box("transpose: unpack", box.local(), contiguous_view(packed, box.nx(), box.ny(), box.nz()), box.local(),
             target, box.relative_to(direction.target.lo));
  });
}

template <class T>
void Transpose<T>::pack(const Direction& direction, View3<const T> source) const {
  const int size = static_cast<int>(direction.outgoing.size());
  for (int step = 1; step < size; ++step) {  // not all ranks to the same one at once
    const int peer = (rank_ + step) % size;
    const Box3& box = direction.outgoing[static_cast<std::size_t>(peer)];
    if (box.empty()) continue;
    auto* packed = reinterpret_cast<T*>(direction.connection->outgoing(peer));
    copy_box("transpose: pack", box.local(), source, box.relative_to(direction.source.lo),
             contiguous_view(packed, box.nx(), box.ny(), box.nz()), box.local());
    direction.connection->packed(peer);
  }
}

template <class T>
void Transpose<T>::move(const Direction& direction, View3<const T> source, View3<T> target) const {
  std::vector<ArrayPart> outgoing;
  std::vector<ArrayPart> incoming;
  for (const Box3& box : direction.outgoing)
    outgoing.push_back(part_of<T>(source, box.relative_to(direction.source.lo)));
  for (const Box3& box : direction.incoming)
    incoming.push_back(part_of<T>(target, box.relative_to(direction.target.lo)));
  outgoing[static_cast<std::size_t>(rank_)] = incoming[static_cast<std::size_t>(rank_)] = {};  // copied already
  direction.arrays->run(outgoing, incoming);
}

template class Transpose<real>;
template class Transpose<std::complex<real>>;

}  // namespace sluice
