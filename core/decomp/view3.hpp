#pragma once
#include <cstddef>
#include <type_traits>

#include "core/support/error.hpp"
#include "core/support/real.hpp"

namespace sluice {

/// Non-owning, trivially copyable view of a 3-D array in device memory, x fastest: (i, j, k) are local indices, 0 at
/// the rank's first own cell; negative indices and those from n on are in the halo. Bounds-checked in debug builds.
template <class T>
struct View3 {
  T* origin = nullptr;  ///< address of (0, 0, 0)
  std::ptrdiff_t stride_y = 0;
  std::ptrdiff_t stride_z = 0;
#ifdef SLUICE_DEBUG
  int n[3] = {0, 0, 0};
  int halo_y = 0;
  int halo_z = 0;
#endif

  SLUICE_INLINE T& operator()(int i, int j, int k) const {
#if defined(SLUICE_DEBUG) && !defined(__CUDA_ARCH__)
    SLUICE_REQUIRE(i >= 0 && i < n[0] && j >= -halo_y && j < n[1] + halo_y && k >= -halo_z && k < n[2] + halo_z,
                   "index outside of a field");
#endif
    return origin[i + j * stride_y + k * stride_z];
  }

  /// The same view with row (j, k) as row (0, 0).
  View3 seen_from(int j, int k) const {
    View3 view = *this;
    view.origin += j * stride_y + k * stride_z;
#ifdef SLUICE_DEBUG  // the bounds move along
    view.n[1] -= 2 * j;
    view.halo_y += j;
    view.n[2] -= 2 * k;
    view.halo_z += k;
#endif
    return view;
  }

  /// Converts to a read-only view.
  template <class Const>
  requires std::is_same_v<Const, const T> SLUICE_INLINE operator View3<Const>() const {
    View3<Const> view;
    view.origin = origin;
    view.stride_y = stride_y;
    view.stride_z = stride_z;
#ifdef SLUICE_DEBUG
    for (int axis = 0; axis < 3; ++axis) view.n[axis] = n[axis];
    view.halo_y = halo_y;
    view.halo_z = halo_z;
#endif
    return view;
  }
};

/// View of a contiguous array of nx x ny x nz elements without halo.
template <class T>
View3<T> contiguous_view(T* data, int nx, int ny, int nz) {
  View3<T> view;
  view.origin = data;
  view.stride_y = nx;
  view.stride_z = static_cast<std::ptrdiff_t>(nx) * ny;
#ifdef SLUICE_DEBUG
  view.n[0] = nx;
  view.n[1] = ny;
  view.n[2] = nz;
#else
  static_cast<void>(nz);
#endif
  return view;
}

}  // namespace sluice
