#pragma once
#include <algorithm>

#include "core/decomp/memory_need.hpp"
#include "core/decomp/transpose.hpp"
#include "core/support/box3.hpp"

namespace sluice {

/// Memory of a transpose, forward and backward, between these boxes of one rank.
template <class T>
ExchangeNeed transpose_need(const Box3& from, const Box3& to) {
  const auto held = static_cast<double>(Transpose<T>::row_length(to) * to.extent(1) * to.extent(2));
  const auto exchanged = static_cast<double>(std::max(from.volume(), to.volume()) - intersect(from, to).volume());
  return {held * sizeof(T), exchanged * sizeof(T)};
}

}  // namespace sluice
