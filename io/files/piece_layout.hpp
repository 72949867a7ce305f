#pragma once
#include <algorithm>
#include <cstdint>

#include "io/files/local_block.hpp"

namespace sluice::io {

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
  std::size_t piece_bytes() const {
    return static_cast<std::size_t>(piece_[0] * piece_[1] * piece_[2]) * element_bytes_;
  }
  std::int64_t count() const { return divide_up(global_[0], piece_[0]) * columns(); }

  Box3 box(std::int64_t n) const {
    const std::int64_t y = n % columns() * piece_[1];
    const std::int64_t z = n / columns() * piece_[0];
    return intersect({{0, y, z}, {piece_[2], y + piece_[1], z + piece_[0]}}, whole_box(global_));
  }

  /// Bytes of the field before piece n, and with n = count() all of them.
  std::size_t offset(std::int64_t n) const {
    const std::int64_t line = n == count() ? global_[0] * global_[1] : box(n).lo[2] * global_[1] + box(n).lo[1];
    return static_cast<std::size_t>(line * global_[2]) * element_bytes_;
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
