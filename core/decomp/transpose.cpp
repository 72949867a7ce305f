#include "core/decomp/transpose.hpp"

#include <algorithm>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice {

template <class T>
Transpose<T>::Transpose(MPI_Comm comm, const std::vector<Box3>& from, const std::vector<Box3>& to, Exchange& exchange)
    : rank_(rank_of(comm)) {
  SLUICE_REQUIRE(from.size() == static_cast<std::size_t>(size_of(comm)) && to.size() == from.size(),
                 "one box a rank on each side");
  own_ = from[static_cast<std::size_t>(rank_)];
  for (const Box3& box : to) common_.push_back(intersect(own_, box));
  transposer_ = exchange.transposer({comm, from, to, sizeof(T)});
  const Box3& box = to[static_cast<std::size_t>(rank_)];
  transposed_ = contiguous_view(reinterpret_cast<T*>(transposer_->array()), static_cast<int>(row_length(box)), box.ny(),
                                box.nz());
}

template <class T>
ExchangeNeed Transpose<T>::memory(const std::vector<Box3>& from, const std::vector<Box3>& to, int rank) {
  const auto here = static_cast<std::size_t>(rank);
  std::vector<std::size_t> sent(from.size()), received(from.size());
  for (std::size_t peer = 0; peer < from.size(); ++peer) {
    if (peer == here) continue;
    sent[peer] = static_cast<std::size_t>(intersect(from[here], to[peer]).volume()) * sizeof(T);
    received[peer] = static_cast<std::size_t>(intersect(from[peer], to[here]).volume()) * sizeof(T);
  }
  const std::size_t messages = std::max(BlockLayout::of(sent).total, BlockLayout::of(received).total);
  return {static_cast<double>(Transposer::held_bytes(to[here], sizeof(T))), static_cast<double>(messages)};
}

template <class T>
Parts Transpose<T>::parts_of(View3<const T> array) const {
  const int size = static_cast<int>(common_.size());
  Parts parts;
  for (int step = 0; step < size; ++step) {
    const int peer = (rank_ + step) % size;
    parts.push_back({peer, part_of(array, common_[static_cast<std::size_t>(peer)].relative_to(own_.lo))});
  }
  return parts;
}

template <class T>
void Transpose<T>::forward(View3<const T> source) {
  transposer_->forward(parts_of(source));
}

template <class T>
void Transpose<T>::backward(View3<T> target) {
  transposer_->backward(parts_of(target));
}

template class Transpose<real>;
template class Transpose<std::complex<real>>;

}  // namespace sluice
