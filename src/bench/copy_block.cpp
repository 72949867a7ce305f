#include "src/bench/copy_block.hpp"

#include <cstdint>
#include <numeric>

#include "core/decomp/copy_box.hpp"

namespace sluice {

void copy_block(std::byte* to, const std::byte* from, std::size_t bytes) {
  const auto reals = static_cast<std::int64_t>(bytes / sizeof(real));
  const std::int64_t row = std::gcd(reals, std::int64_t{1024});
  const std::int64_t planes = std::gcd(reals / row, std::int64_t{32});
  const Box3 box = box_of(row, reals / row / planes, planes);
  copy_box("links", box, contiguous_view(reinterpret_cast<const real*>(from), box.nx(), box.ny(), box.nz()), box,
           contiguous_view(reinterpret_cast<real*>(to), box.nx(), box.ny(), box.nz()), box);
}

}  // namespace sluice
