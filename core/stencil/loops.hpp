#pragma once
// Loops over cells whose kernels are templates of the order: the loops turn the order into a constant.
#include "core/device/parallel_for.hpp"
#include "core/stencil/lines.hpp"

namespace sluice::op {

/// parallel_for with Kernel<order>{arguments...}.
template <template <Order> class Kernel, class... Arguments>
void parallel_for(const char* name, const Box3& box, Order order, const Arguments&... arguments) {
  with_order(order, [&](auto constant) { sluice::parallel_for(name, box, Kernel<constant>{arguments...}); });
}

/// reduce_max with Kernel<order>{arguments...}.
template <template <Order> class Kernel, class... Arguments>
double reduce_max(const char* name, const Box3& box, Order order, const Arguments&... arguments) {
  double largest = 0;
  with_order(order, [&](auto constant) { largest = sluice::reduce_max(name, box, Kernel<constant>{arguments...}); });
  return largest;
}

}  // namespace sluice::op
