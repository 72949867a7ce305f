#pragma once
#include <cmath>

#include "core/decomp/view3.hpp"
#include "core/device/cell.hpp"
#include "core/stencil/order.hpp"
#include "solver/grid/grid.hpp"

namespace sluice {

/// kappa (|u - V|/dx + |v|/dy) + |w|/dz with the three face values that belong to a cell; kappa: largest_wavenumber, V:
/// velocity of the grid.
template <Order order, class M>
SLUICE_INLINE double advective_rate(real u, real v, real w, int k, const M& m) {
  real in_plane = std::abs(u - m.velocity) * m.inv_dx + std::abs(v) * m.inv_dy;
  if constexpr (largest_wavenumber(order) != 1) in_plane *= static_cast<real>(largest_wavenumber(order));
  return static_cast<double>(in_plane + std::abs(w) * m.inv_dz_center[k]);
}

/// The rate of each cell, for reductions.
template <Order order>
struct AdvectiveRate {
  View3<const real> u, v, w;
  Metrics m;
  SLUICE_INLINE double operator()(const Cell& c) const {
    return advective_rate<order>(u(c.i, c.j, c.k), v(c.i, c.j, c.k), w(c.i, c.j, c.k), c.k, m);
  }
  SLUICE_INLINE double compute(const Cell& c) const { return (*this)(c); }
  SLUICE_INLINE double write(const Cell& /*c*/, double rate) const { return rate; }
};

}  // namespace sluice
