#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace sluice {

/// Half-open box of global indices [lo, hi) in x, y, z: a pure value.
struct Box3 {
  std::array<std::int64_t, 3> lo{0, 0, 0};
  std::array<std::int64_t, 3> hi{0, 0, 0};

  std::int64_t extent(int axis) const {
    return hi[static_cast<std::size_t>(axis)] - lo[static_cast<std::size_t>(axis)];
  }
  int nx() const { return static_cast<int>(extent(0)); }
  int ny() const { return static_cast<int>(extent(1)); }
  int nz() const { return static_cast<int>(extent(2)); }
  std::int64_t volume() const { return empty() ? 0 : extent(0) * extent(1) * extent(2); }
  bool empty() const { return extent(0) <= 0 || extent(1) <= 0 || extent(2) <= 0; }

  /// The same box moved so that `origin` becomes (0, 0, 0).
  Box3 relative_to(const std::array<std::int64_t, 3>& origin) const {
    Box3 moved = *this;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      moved.lo[axis] -= origin[axis];
      moved.hi[axis] -= origin[axis];
    }
    return moved;
  }

  /// [0, nx) x [0, ny) x [0, nz): the local indices of this box.
  Box3 local() const { return relative_to(lo); }

  friend bool operator==(const Box3&, const Box3&) = default;
};

inline Box3 box_of(std::int64_t nx, std::int64_t ny, std::int64_t nz) {
  return {{0, 0, 0}, {nx, ny, nz}};
}

inline Box3 intersect(const Box3& a, const Box3& b) {
  Box3 box;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    box.lo[axis] = std::max(a.lo[axis], b.lo[axis]);
    box.hi[axis] = std::max(box.lo[axis], std::min(a.hi[axis], b.hi[axis]));
  }
  return box;
}

/// Splits n items into `parts` ranges whose lengths differ by at most 1, longer ones first: parts + 1 bounds.
inline std::vector<std::int64_t> split_evenly(std::int64_t n, int parts) {
  std::vector<std::int64_t> bounds(static_cast<std::size_t>(parts) + 1, 0);
  for (int part = 0; part < parts; ++part) {
    const std::int64_t length = n / parts + (part < n % parts ? 1 : 0);
    bounds[static_cast<std::size_t>(part) + 1] = bounds[static_cast<std::size_t>(part)] + length;
  }
  return bounds;
}

}  // namespace sluice
