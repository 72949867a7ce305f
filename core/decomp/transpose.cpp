#include "core/decomp/transpose.hpp"

#include "core/device/parallel_for.hpp"
#include "core/support/error.hpp"

namespace sluice {

namespace {

/// Copies a box of `source`, whose first element is (x, y, z), into a box of `target`.
template <class T>
struct CopyBox {
  View3<const T> source;
  View3<T> target;
  int source_x, source_y, source_z;
  int target_x, target_y, target_z;

  SLUICE_INLINE void operator()(int i, int j, int k) const {
    target(target_x + i, target_y + j, target_z + k) = source(source_x + i, source_y + j, source_z + k);
  }
};

template <class T>
void copy_box(const char* name, const Box3& extent, View3<const T> source, const Box3& in_source, View3<T> target,
              const Box3& in_target) {
  parallel_for(name, extent,
               CopyBox<T>{source, target, static_cast<int>(in_source.lo[0]), static_cast<int>(in_source.lo[1]),
                          static_cast<int>(in_source.lo[2]), static_cast<int>(in_target.lo[0]),
                          static_cast<int>(in_target.lo[1]), static_cast<int>(in_target.lo[2])});
}

template <class T>
BlockLayout lay_out(const std::vector<Box3>& boxes, int rank) {
  BlockLayout layout;
  for (std::size_t peer = 0; peer < boxes.size(); ++peer) {
    const auto bytes = static_cast<int>(peer) == rank ? 0 : static_cast<std::size_t>(boxes[peer].volume()) * sizeof(T);
    layout.offset.push_back(layout.total);
    layout.bytes.push_back(bytes);
    layout.total += bytes;
  }
  return layout;
}

}  // namespace

void TransposeBuffers::reserve(std::size_t send_bytes, std::size_t receive_bytes) {
  if (send_bytes > send_.size()) {
    send_ = Buffer<std::byte>();  // given back first, so that old and new are never held together
    send_ = Buffer<std::byte>(send_bytes);
    send_image_ = HostImage(send_.data(), send_bytes);
  }
  if (receive_bytes > receive_.size()) {
    receive_ = Buffer<std::byte>();
    receive_ = Buffer<std::byte>(receive_bytes);
    receive_image_ = HostImage(receive_.data(), receive_bytes);
  }
}

template <class T>
Transpose<T>::Transpose(MPI_Comm comm, std::vector<Box3> from, std::vector<Box3> to, Exchange& exchange,
                        std::shared_ptr<TransposeBuffers> buffers)
    : comm_(comm), exchange_(&exchange), buffers_(std::move(buffers)) {
  int size = 0;
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &size);
  SLUICE_REQUIRE(from.size() == static_cast<std::size_t>(size) && to.size() == from.size(),
                 "one box a rank on each side");
  forward_ = plan(from, to, rank_);
  backward_ = plan(to, from, rank_);
  buffers_->reserve(std::max(forward_.send.total, backward_.send.total),
                    std::max(forward_.receive.total, backward_.receive.total));
}

template <class T>
typename Transpose<T>::Direction Transpose<T>::plan(const std::vector<Box3>& from, const std::vector<Box3>& to,
                                                    int rank) {
  Direction direction;
  direction.source = from[static_cast<std::size_t>(rank)];
  direction.target = to[static_cast<std::size_t>(rank)];
  for (std::size_t peer = 0; peer < from.size(); ++peer) {
    direction.outgoing.push_back(intersect(direction.source, to[peer]));
    direction.incoming.push_back(intersect(from[peer], direction.target));
  }
  direction.send = lay_out<T>(direction.outgoing, rank);
  direction.receive = lay_out<T>(direction.incoming, rank);
  return direction;
}

template <class T>
void Transpose<T>::forward(View3<const T> source, View3<T> target) {
  run(forward_, source, target);
}

template <class T>
void Transpose<T>::backward(View3<const T> source, View3<T> target) {
  run(backward_, source, target);
}

template <class T>
void Transpose<T>::run(const Direction& direction, View3<const T> source, View3<T> target) {
  for (std::size_t peer = 0; peer < direction.outgoing.size(); ++peer) {
    const Box3& box = direction.outgoing[peer];
    if (static_cast<int>(peer) == rank_ || box.empty()) continue;
    auto* packed = reinterpret_cast<T*>(buffers_->send() + direction.send.offset[peer]);
    copy_box("transpose: pack", box.local(), source, box.relative_to(direction.source.lo),
             contiguous_view(packed, box.nx(), box.ny(), box.nz()), box.local());
  }
  const Box3& own = direction.outgoing[static_cast<std::size_t>(rank_)];
  copy_box("transpose: own block", own.local(), source, own.relative_to(direction.source.lo), target,
           own.relative_to(direction.target.lo));
  if (direction.outgoing.size() == 1) return;

  exchange_->run(
      comm_, direction.send, buffers_->send_image(), direction.receive, buffers_->receive_image(), [&](int peer) {
        const Box3& box = direction.incoming[static_cast<std::size_t>(peer)];
        const auto* packed =
            reinterpret_cast<const T*>(buffers_->receive() + direction.receive.offset[static_cast<std::size_t>(peer)]);
        copy_box("transpose: unpack", box.local(), contiguous_view(packed, box.nx(), box.ny(), box.nz()), box.local(),
                 target, box.relative_to(direction.target.lo));
      });
  device::synchronize();  // the receive buffer may be filled again at once
}

template class Transpose<real>;
template class Transpose<std::complex<real>>;

}  // namespace sluice
