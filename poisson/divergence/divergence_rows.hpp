#pragma once
// The right-hand side of the pressure equation in terms of u*.
#include <cstdint>

#include "core/decomp/field.hpp"
#include "core/decomp/vector_view.hpp"
#include "core/device/deferred.hpp"
#include "core/stencil/first_differences.hpp"
#include "core/stencil/order.hpp"
#include "core/support/exact_sum.hpp"

namespace sluice {

/// div u* / (gamma dt) of a rank's rows, eq. (2). u*, v*, w* are at their faces, in arrays of one layout. The halos
/// that div reads are valid: v* in row j - 1 (order 4: from j - 2 to j + 1), w* in plane k - 1.
struct DivergenceRows {
  VectorView<const real> star;
  Order order;
  real inv_dx, inv_dy;
  const real* inv_dz;  ///< device array over the rank's planes: 1 / height
  const real* dz;      ///< the heights
  real inv_gamma_dt;

  /// What op::divergence needs to know of plane k, as plane 0.
  struct PlaneMetrics {
    real inv_dx, inv_dy;
    const real* inv_dz;
  };
  SLUICE_INLINE PlaneMetrics seen_from(int k) const { return {inv_dx, inv_dy, inv_dz + k}; }

  template <Order of_order, class C>
  SLUICE_INLINE real at(const C& c) const {
    const real divergence = op::divergence<of_order>(star.around(star.u, c), star.around(star.v, c),
                                                     star.around(star.w, c), relative_cell(c), seen_from(c.k));
    return divergence * inv_gamma_dt;
  }

  /// A cell's term in the sum from which the volume mean of u* follows.
  SLUICE_INLINE double weighted(real u, int k) const { return static_cast<double>(u) * static_cast<double>(dz[k]); }
};

/// Writes them to an array, for reduce_sum, which sums weighted(u).
template <Order order>
struct WriteDivergence {
  using CellType = op::CellFor<order>;
  DivergenceRows rows;
  real* to;  ///< address of cell (0, 0, 0)
  std::ptrdiff_t stride_y, stride_z;

  struct Computed {
    real divergence, u;
  };
  SLUICE_INLINE Computed compute(const CellType& c) const {
    return {rows.template at<order>(c), rows.star.u[rows.star.offset(c)]};
  }
  SLUICE_INLINE double write(const CellType& c, const Computed& computed) const {
    to[c.i + c.j * stride_y + c.k * stride_z] = computed.divergence;
    return rows.weighted(computed.u, c.k);
  }
};

/// The right-hand side div u* / (gamma dt) of PoissonSolver::solve. Whoever forms it reads u*, and sums it.
struct VelocityDivergence {
  DivergenceRows rows{};
  Deferred<ExactSum> sum_of_u;  ///< over the rank's cells, of DivergenceRows::weighted; set when it has been formed
};

/// Forms the right-hand side in a sweep of its own and writes it to `to`: the reference for DivergenceFourier, and its
/// substitute for lengths that it does not support.
void write_divergence(VelocityDivergence& divergence, Field& to);

}  // namespace sluice
