#pragma once
#include "core/decomp/vector_view.hpp"
#include "core/device/parallel_for.hpp"
#include "solver/state/state.hpp"

namespace sluice {

inline VectorView<real> vector_view(VectorField& f) {
  const View3<real> u = f.u.view();
  return {u.origin, f.v.view().origin, f.w.view().origin, u.stride_y, u.stride_z};
}
inline VectorView<const real> vector_view(const VectorField& f) {
  const View3<const real> u = f.u.view();
  return {u.origin, f.v.view().origin, f.w.view().origin, u.stride_y, u.stride_z};
}

}  // namespace sluice
