#pragma once
#include "core/decomp/view3.hpp"
#include "core/device/cell.hpp"

namespace sluice {

/// The neighbourhood of one cell of an array: f(i, j, k) with i, j, k relative to the cell.
struct Around : IndexBounds {
  const real* at;
  std::ptrdiff_t stride_y, stride_z;

  SLUICE_INLINE real operator()(int i, int j, int k) const {
    check(i, j, k);
    return at[i + j * stride_y + k * stride_z];
  }
};

/// The neighbourhood of a cell of a field.
template <class C>
SLUICE_INLINE Around around(const View3<const real>& f, const C& c) {
  return {f.bounds().seen_from(c.i, c.j, c.k), f.origin + c.i + c.j * f.stride_y + c.k * f.stride_z, f.stride_y,
          f.stride_z};
}

/// The cell in indices relative to itself: for fields given as Around.
SLUICE_INLINE Cell relative_cell(Cell c) {
  return {0, 0, 0, c.west - c.i, c.east - c.i};
}
SLUICE_INLINE WideCell relative_cell(const WideCell& c) {
  return {0, 0, 0, c.west3 - c.i, c.west2 - c.i, c.west - c.i, c.east - c.i, c.east2 - c.i, c.east3 - c.i};
}

/// Views of three components in arrays of one layout: the address of a cell is computed once for all. Light
/// single-precision sweeps of a GPU also wait for such integer arithmetic. `offset` and what is read through `around`
/// are bounds-checked in debug builds.
template <class T>
struct VectorView : IndexBounds {
  T* u;
  T* v;
  T* w;
  std::ptrdiff_t stride_y, stride_z;

  template <class C>
  SLUICE_INLINE std::ptrdiff_t offset(const C& c) const {
    this->check(c.i, c.j, c.k);
    return c.i + c.j * stride_y + c.k * stride_z;
  }
  /// The neighbourhood of a cell of u, v or w.
  template <class C>
  SLUICE_INLINE Around around(const T* component, const C& c) const {
    return {this->seen_from(c.i, c.j, c.k), component + offset(c), stride_y, stride_z};
  }
};

/// u, v, w: views of one layout.
template <class T>
VectorView<T> vector_view(const View3<T>& u, const View3<T>& v, const View3<T>& w) {
  SLUICE_REQUIRE(
      u.stride_y == v.stride_y && u.stride_y == w.stride_y && u.stride_z == v.stride_z && u.stride_z == w.stride_z,
      "the components of a vector have different layouts");
  return {u.bounds(), u.origin, v.origin, w.origin, u.stride_y, u.stride_z};
}

}  // namespace sluice
