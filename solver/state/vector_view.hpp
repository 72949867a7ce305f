#pragma once
#include "core/decomp/vector_view.hpp"
#include "core/device/parallel_for.hpp"
#include "solver/state/state.hpp"

namespace sluice {

inline VectorView<real> vector_view(VectorField& f) {
  return vector_view(f.u.view(), f.v.view(), f.w.view());
}
inline VectorView<const real> vector_view(const VectorField& f) {
  return vector_view(f.u.view(), f.v.view(), f.w.view());
}

}  // namespace sluice
