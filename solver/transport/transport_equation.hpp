#pragma once
// The equation of a transported field c: dc/dt = R(c, u), advanced with the weights of the velocity.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/device/parallel_for.hpp"
#include "core/flow/field_descriptor.hpp"
#include "core/flow/parameters.hpp"
#include "solver/grid/grid.hpp"

namespace sluice {

/// Arrays of the sweep of a transported field. star holds the old tendency on entry and c* on return.
struct TransportArrays {
  View3<const real> u, v, w, c;
  View3<real> tendency, star;
  Metrics m;
  real alpha_dt, beta_dt;
};

/// c* = c + alpha dt R + beta dt R_prev. Tendency: a functor; operator()(const TransportArrays&, Cell) returns R in one
/// cell, a WideCell if it is its CellType, and its member `diffusivity` is the largest coefficient of diffusion in R.
template <bool first, class Tendency>
struct UpdateTransported {
  using CellType = CellOf<Tendency>;
  TransportArrays a;
  Tendency tendency;
  SLUICE_INLINE void operator()(CellType c) const {
    const real r = tendency(a, c);
    real star = a.c(c.i, c.j, c.k) + a.alpha_dt * r;
    if constexpr (!first) star += a.beta_dt * a.star(c.i, c.j, c.k);
    a.tendency(c.i, c.j, c.k) = r;
    a.star(c.i, c.j, c.k) = star;
  }
};

/// A transported field: its descriptor, the diffusivity, which limits the time step, and the sweep that computes R and
/// c* over a box of local indices. `first`: the old tendency is not read.
struct TransportEquation {
  FieldDescriptor descriptor;
  double diffusivity;
  std::function<void(const TransportArrays& arrays, const Box3& box, bool first)> sweep;
};

template <class Tendency>
TransportEquation transport_equation(const FieldDescriptor& descriptor, Tendency tendency) {
  const auto sweep = [name = "transport " + descriptor.name, tendency](const TransportArrays& arrays, const Box3& box,
                                                                       bool first) {
    if (first) {
      parallel_for(name.c_str(), box, UpdateTransported<true, Tendency>{arrays, tendency});
    } else {
      parallel_for(name.c_str(), box, UpdateTransported<false, Tendency>{arrays, tendency});
    }
  };
  return {descriptor, static_cast<double>(tendency.diffusivity), sweep};
}

/// One for each field that follows p in flow_fields().
std::vector<TransportEquation> transport_equations(const FlowParameters& flow);

}  // namespace sluice
