#pragma once
#include <algorithm>
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
    return (row * held.extent(0) + (i - held.lo[0])) * element_bytes;
  };
  const std::size_t row_bytes = box.extent(0) * element_bytes;
  for (std::int64_t k = box.lo[2]; k < box.hi[2]; ++k) {
    for (std::int64_t j = box.lo[1]; j < box.hi[1]; ++j) {
      std::memcpy(to + offset(to_box, k, j, box.lo[0]), from + offset(from_box, k, j, box.lo[0]), row_bytes);
    }
  }
}

/// Division of a field into pieces that ranks write or verify one at a time: whole planes if small, otherwise whole x
/// lines of a plane. The pieces follow each other in the file. A piece holds at most 1 MiB (or a single x line). A pure
/// value. Earlier versions stored fields in HDF5 chunks, whose places are those of the pieces.
class PieceLayout {
 public:
  PieceLayout(const Extents& global, std::size_t element_bytes) : global_(global), element_bytes_(element_bytes) {
    const std::int64_t limit =
        std::max<std::int64_t>(1, target_bytes / (global[2] * static_cast<std::int64_t>(element_bytes)));
    const std::int64_t planes = limit / global[1];
    piece_ = {std::clamp<std::int64_t>(planes, 1, global[0]), std::min(limit, global[1]), global[2]};
    for (std::size_t axis = 0; axis < 2; ++axis)  // equal shares
      piece_[axis] = divide_up(global[axis], divide_up(global[axis], piece_[axis]));
  }

  const Extents& global() const { return global_; }
  std::size_t element_bytes() const { return element_bytes_; }
  /// Of the largest piece.
  std::size_t piece_bytes() const { return (piece_[0] * piece_[1] * piece_[2]) * element_bytes_; }
  std::int64_t count() const { return divide_up(global_[0], piece_[0]) * columns(); }

  Box3 box(std::int64_t n) const {
    const std::int64_t y = n % columns() * piece_[1];
    const std::int64_t z = n / columns() * piece_[0];
    return intersect({{0, y, z}, {piece_[2], y + piece_[1], z + piece_[0]}}, whole_box(global_));
  }

  /// Bytes of the field before piece n, and with n = count() all of them.
  std::size_t offset(std::int64_t n) const {
    const std::int64_t line = n == count() ? global_[0] * global_[1] : box(n).lo[2] * global_[1] + box(n).lo[1];
    return (line * global_[2]) * element_bytes_;
  }

  /// The pieces handled by rank `rank` of `size` begin here and end where the next rank's begin.
  std::int64_t first_of(int rank, int size) const { return count() * rank / size; }

 private:
  static constexpr std::int64_t target_bytes = 1 << 20;
  static std::int64_t divide_up(std::int64_t n, std::int64_t divisor) { return (n + divisor - 1) / divisor; }
  std::int64_t columns() const { return divide_up(global_[1], piece_[1]); }

  Extents global_;
  Extents piece_;
  std::size_t element_bytes_;
};

}  // namespace sluice::io
