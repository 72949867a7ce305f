#pragma once
#include <algorithm>
#include <cstdint>

#include "io/files/local_block.hpp"

namespace sluice::io {

/// Division of a field into chunks in its file: whole planes if small, otherwise whole x lines. A chunk holds at most 1
/// MiB (or a single x line), which is also the default cache size of HDF5 readers. The global shape alone determines
/// it, so that a file does not depend on the decomposition that wrote it. A pure value.
class ChunkLayout {
 public:
  ChunkLayout(const Extents& global, std::size_t element_bytes) : global_(global), element_bytes_(element_bytes) {
    const std::int64_t limit =
        std::max<std::int64_t>(1, target_bytes / (global[2] * static_cast<std::int64_t>(element_bytes)));
    const std::int64_t planes = limit / global[1];
    chunk_ = {std::clamp<std::int64_t>(planes, 1, global[0]), std::min(limit, global[1]), global[2]};
    // Equal shares waste less space in the last chunk, which is stored in full.
    for (std::size_t axis = 0; axis < 2; ++axis)
      chunk_[axis] = divide_up(global[axis], divide_up(global[axis], chunk_[axis]));
  }

  const Extents& global() const { return global_; }
  const Extents& chunk() const { return chunk_; }
  std::size_t element_bytes() const { return element_bytes_; }
  std::size_t chunk_bytes() const {
    return static_cast<std::size_t>(chunk_[0] * chunk_[1] * chunk_[2]) * element_bytes_;
  }
  std::int64_t count() const { return divide_up(global_[0], chunk_[0]) * divide_up(global_[1], chunk_[1]); }

  /// The box that chunk n covers, including any part beyond the field's edge.
  Box3 full_box(std::int64_t n) const {
    const std::int64_t columns = divide_up(global_[1], chunk_[1]);
    const std::int64_t y = n % columns * chunk_[1];
    const std::int64_t z = n / columns * chunk_[0];
    return {{0, y, z}, {chunk_[2], y + chunk_[1], z + chunk_[0]}};
  }

  /// The part of the field in chunk n.
  Box3 box(std::int64_t n) const { return intersect(full_box(n), whole_box(global_)); }

  /// The chunks handled by rank `rank` of `size` begin here and end where the next rank's begin.
  std::int64_t first_of(int rank, int size) const { return count() * rank / size; }

 private:
  static constexpr std::int64_t target_bytes = 1 << 20;
  static std::int64_t divide_up(std::int64_t n, std::int64_t divisor) { return (n + divisor - 1) / divisor; }

  Extents global_;
  Extents chunk_;
  std::size_t element_bytes_;
};

}  // namespace sluice::io
