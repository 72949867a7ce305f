#pragma once
// The loop that packs, unpacks and copies blocks. For files with loops over cells.
#include "core/decomp/box3.hpp"
#include "core/decomp/view3.hpp"
#include "core/device/parallel_for.hpp"

namespace sluice {

/// Copies a box of `source`, whose first element is (x, y, z), into a box of `target`.
template <class T>
struct CopyBox {
  View3<const T> source;
  View3<T> target;
  int source_x, source_y, source_z;
  int target_x, target_y, target_z;

  SLUICE_INLINE void operator()(int i, int j, int k) const {
    target(target_x + i, target_y + j, target_z + k) = source(source_x + i, source_y + j, source_z + k);
  }
};

/// Copies a box of local indices of `source` into one of `target`, both as large as `extent`, whose lower corner is
/// (0, 0, 0).
template <class T>
void copy_box(const char* name, const Box3& extent, View3<const T> source, const Box3& in_source, View3<T> target,
              const Box3& in_target) {
  parallel_for(name, extent,
               CopyBox<T>{source, target, static_cast<int>(in_source.lo[0]), static_cast<int>(in_source.lo[1]),
                          static_cast<int>(in_source.lo[2]), static_cast<int>(in_target.lo[0]),
                          static_cast<int>(in_target.lo[1]), static_cast<int>(in_target.lo[2])});
}

}  // namespace sluice
