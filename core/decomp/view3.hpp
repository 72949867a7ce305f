#pragma once
#include <cstddef>
#include <type_traits>

#include "core/decomp/index_bounds.hpp"
#include "core/support/real.hpp"

namespace sluice {

/// Non-owning, trivially copyable view of a 3-D array in device memory, x fastest: (i, j, k) are local indices, 0 at
/// the rank's first own cell; negative indices and those from n on are in the halo. Bounds-checked in debug builds.
template <class T>
struct View3 : IndexBounds {
  T* origin = nullptr;  ///< address of (0, 0, 0)
  std::ptrdiff_t stride_y = 0;
  std::ptrdiff_t stride_z = 0;

  SLUICE_INLINE T& operator()(int i, int j, int k) const {
    this->check(i, j, k);
    return origin[i + j * stride_y + k * stride_z];
  }

  /// The same view with row (j, k) as row (0, 0).
  View3 seen_from(int j, int k) const {
    return {bounds().seen_from(0, j, k), origin + j * stride_y + k * stride_z, stride_y, stride_z};
  }

  SLUICE_INLINE const IndexBounds& bounds() const { return *this; }

  /// Converts to a read-only view.
  template <class Const>
  requires std::is_same_v<Const, const T> SLUICE_INLINE operator View3<Const>() const {
    return {bounds(), origin, stride_y, stride_z};
  }
};

/// View of a contiguous array of nx x ny x nz elements without halo.
template <class T>
View3<T> contiguous_view(T* data, int nx, int ny, int nz) {
  const IndexBounds bounds = IndexBounds().along(0, 0, nx).along(1, 0, ny).along(2, 0, nz);
  return {bounds, data, nx, static_cast<std::ptrdiff_t>(nx) * ny};
}

}  // namespace sluice
