#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/support/box3.hpp"

namespace sluice::io {

/// Extents or indices in the order of the files: z, y, x.
using Extents = std::array<std::int64_t, 3>;

/// The part of a global array on one process, contiguous and row-major (x fastest). A pure value.
struct LocalBlock {
  Extents global{};  ///< shape of the whole array: nz, ny, nx
  Box3 box{};        ///< the part; may be empty
};

/// All indices of an array of this shape.
inline Box3 whole_box(const Extents& shape) {
  return {{0, 0, 0}, {shape[2], shape[1], shape[0]}};
}

/// Copies the elements of `box` from one row-major array to another. `from_box` and `to_box`: the boxes of the arrays.
inline void copy_box(const Box3& box, const std::byte* from, const Box3& from_box, std::byte* to, const Box3& to_box,
                     std::size_t element_bytes) {
  if (box.volume() == 0) return;
  const auto offset = [element_bytes](const Box3& held, std::int64_t k, std::int64_t j, std::int64_t i) {
    const std::int64_t row = (k - held.lo[2]) * held.extent(1) + (j - held.lo[1]);
    return static_cast<std::size_t>(row * held.extent(0) + (i - held.lo[0])) * element_bytes;
  };
  const std::size_t row_bytes = static_cast<std::size_t>(box.extent(0)) * element_bytes;
  for (std::int64_t k = box.lo[2]; k < box.hi[2]; ++k) {
    for (std::int64_t j = box.lo[1]; j < box.hi[1]; ++j) {
      std::memcpy(to + offset(to_box, k, j, box.lo[0]), from + offset(from_box, k, j, box.lo[0]), row_bytes);
    }
  }
}

}  // namespace sluice::io
