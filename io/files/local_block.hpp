#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sluice::io {

/// Extents or indices in the order of the files: z, y, x.
using Extents = std::array<std::int64_t, 3>;

/// The part of a global array that a process holds, contiguous and row-major (x fastest). A pure value.
struct LocalBlock {
  Extents global{};  ///< shape of the whole array: nz, ny, nx
  Extents start{};   ///< first index of the part
  Extents count{};   ///< its extents; any of them 0: nothing

  std::int64_t volume() const { return count[0] * count[1] * count[2]; }
  bool empty() const { return volume() == 0; }
  friend bool operator==(const LocalBlock&, const LocalBlock&) = default;
};

/// Half-open box in global indices.
struct IndexBox {
  Extents lo{};
  Extents hi{};

  std::int64_t extent(std::size_t axis) const { return hi[axis] - lo[axis]; }
  std::int64_t volume() const { return extent(0) * extent(1) * extent(2); }
};

inline IndexBox box_of(const LocalBlock& block) {
  IndexBox box{block.start, block.start};
  for (std::size_t axis = 0; axis < 3; ++axis) box.hi[axis] += block.count[axis];
  return box;
}

/// Empty boxes have extent 0 along at least one axis, never a negative one.
inline IndexBox intersection(const IndexBox& a, const IndexBox& b) {
  IndexBox box;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    box.lo[axis] = a.lo[axis] > b.lo[axis] ? a.lo[axis] : b.lo[axis];
    const std::int64_t hi = a.hi[axis] < b.hi[axis] ? a.hi[axis] : b.hi[axis];
    box.hi[axis] = hi > box.lo[axis] ? hi : box.lo[axis];
  }
  return box;
}

/// Copies the elements of `box` from one row-major array to another. `from_box` and `to_box` are what the
/// arrays hold.
inline void copy_box(const IndexBox& box, const std::byte* from, const IndexBox& from_box, std::byte* to,
                     const IndexBox& to_box, std::size_t element_bytes) {
  if (box.volume() == 0) return;
  const auto offset = [element_bytes](const IndexBox& held, std::int64_t k, std::int64_t j, std::int64_t i) {
    const std::int64_t row = (k - held.lo[0]) * held.extent(1) + (j - held.lo[1]);
    return static_cast<std::size_t>(row * held.extent(2) + (i - held.lo[2])) * element_bytes;
  };
  const std::size_t row_bytes = static_cast<std::size_t>(box.extent(2)) * element_bytes;
  for (std::int64_t k = box.lo[0]; k < box.hi[0]; ++k) {
    for (std::int64_t j = box.lo[1]; j < box.hi[1]; ++j) {
      std::memcpy(to + offset(to_box, k, j, box.lo[2]), from + offset(from_box, k, j, box.lo[2]), row_bytes);
    }
  }
}

}  // namespace sluice::io
