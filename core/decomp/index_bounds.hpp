#pragma once
#include "core/device/assertion.hpp"
#include "core/support/real.hpp"

namespace sluice {

#ifdef SLUICE_DEBUG

/// The indices (i, j, k) at which a view may be read or written. A view that kernels of a GPU take has them as a base
/// class, which takes no space in release builds, in which nothing is checked: nvcc 13 gives a member with
/// [[no_unique_address]] space in device code, but none in host code. Views of CPU sweeps may have them as members.
class IndexBounds {
 public:
  /// The same bounds but for lo <= index < hi along an axis (0: x).
  SLUICE_INLINE IndexBounds along(int axis, int lo, int hi) const {
    IndexBounds changed = *this;
    changed.lo_[axis] = lo;
    changed.hi_[axis] = hi;
    return changed;
  }
  /// In indices relative to (i, j, k).
  SLUICE_INLINE IndexBounds seen_from(int i, int j, int k) const {
    const int origin[3] = {i, j, k};
    IndexBounds moved;
    for (int axis = 0; axis < 3; ++axis) {
      moved.lo_[axis] = lo_[axis] - origin[axis];
      moved.hi_[axis] = hi_[axis] - origin[axis];
    }
    return moved;
  }
  SLUICE_INLINE void check(int i, int j, int k) const {
    SLUICE_ASSERT(i >= lo_[0] && i < hi_[0] && j >= lo_[1] && j < hi_[1] && k >= lo_[2] && k < hi_[2],
                  "index outside of a field");
  }

 private:
  int lo_[3] = {0, 0, 0};
  int hi_[3] = {0, 0, 0};
};

#else

class IndexBounds {
 public:
  SLUICE_INLINE IndexBounds along(int /*axis*/, int /*lo*/, int /*hi*/) const { return {}; }
  SLUICE_INLINE IndexBounds seen_from(int /*i*/, int /*j*/, int /*k*/) const { return {}; }
  SLUICE_INLINE void check(int /*i*/, int /*j*/, int /*k*/) const {}
};

#endif

}  // namespace sluice
