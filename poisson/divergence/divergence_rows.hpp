#pragma once
// The right-hand side of the pressure equation in terms of u*.
#include <cstdint>
#include <functional>

#include "core/decomp/field.hpp"
#include "core/decomp/vector_view.hpp"
#include "core/device/deferred.hpp"
#include "core/stencil/first_differences.hpp"
#include "core/stencil/order.hpp"
#include "core/support/exact_sum.hpp"
#include "poisson/fft/small_dft.hpp"

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
  std::function<void()> when_summed;  ///< if set: called when the loops that form the sum are issued
  DeferredSum sum_of_u;  ///< over the rank's cells, of DivergenceRows::weighted; set when it has been formed
};

/// Forms the right-hand side in a sweep of its own and writes it to `to`: the reference for DivergenceFourier, and its
/// substitute for lengths that it does not support.
void write_divergence(VelocityDivergence& divergence, Field& to);

/// What div u* reads in the cells 2p and 2p + 1 of a row, in registers: two neighbours along x are one load, which
/// needs rows of even length. The order of operations is that of DivergenceRows::at.
template <Order order>
struct DivergencePair {
  static constexpr int below = points_beside(order);  ///< points of u* before the cell, rows of v* below it
  static constexpr int above = below - 1;

  real u[2 + below + above];     ///< from cell 2p - below on
  real v[2][1 + below + above];  ///< of each cell, from row j - below on
  real w[2][2];                  ///< of each cell, in planes k - 1 and k

  /// Of pair p of the `pairs` pairs in the row (j, k).
  SLUICE_INLINE static DivergencePair read(const VectorView<const real>& star, int p, int pairs, int j, int k) {
    const std::ptrdiff_t row = j * star.stride_y + k * star.stride_z;
    DivergencePair read;
    if constexpr (below == 2) {
      const ComplexPair before = pair(star.u + row, p == 0 ? pairs - 1 : p - 1);
      read.u[0] = before.re;
      read.u[1] = before.im;
      read.u[4] = star.u[row + (p + 1 == pairs ? 0 : 2 * p + 2)];
    } else {
      read.u[0] = star.u[row + (p == 0 ? 2 * pairs : 2 * p) - 1];
    }
    const ComplexPair here = pair(star.u + row, p);
    read.u[below] = here.re;
    read.u[below + 1] = here.im;
    SLUICE_UNROLL
    for (int n = -below; n <= above; ++n) {
      const ComplexPair of_row = pair(star.v + row + n * star.stride_y, p);
      read.v[0][n + below] = of_row.re;
      read.v[1][n + below] = of_row.im;
    }
    SLUICE_UNROLL
    for (int n = -1; n <= 0; ++n) {
      const ComplexPair of_plane = pair(star.w + row + n * star.stride_z, p);
      read.w[0][n + 1] = of_plane.re;
      read.w[1][n + 1] = of_plane.im;
    }
    return read;
  }

  /// div u* / (gamma dt) in both cells; inv_dz: of their plane.
  SLUICE_INLINE ComplexPair divergence(const DivergenceRows& rows, real inv_dz) const {
    const DivergenceRows::PlaneMetrics metrics{rows.inv_dx, rows.inv_dy, &inv_dz};
    return {of_cell(0, metrics) * rows.inv_gamma_dt, of_cell(1, metrics) * rows.inv_gamma_dt};
  }

  SLUICE_INLINE double sum_of_u() const { return static_cast<double>(u[below]) + static_cast<double>(u[below + 1]); }

 private:
  /// A field of which only the values along one axis are known: f(i, j, k) with two of i, j, k equal to 0.
  struct Line {
    const real* here;
    SLUICE_INLINE real operator()(int i, int j, int k) const { return here[i + j + k]; }
  };

  SLUICE_INLINE static ComplexPair pair(const real* row, int p) { return reinterpret_cast<const ComplexPair*>(row)[p]; }

  SLUICE_INLINE real of_cell(int side, const DivergenceRows::PlaneMetrics& metrics) const {
    return op::divergence<order>(Line{u + below + side}, Line{v[side] + below}, Line{w[side] + 1},
                                 inner_cell<op::CellFor<order>>(0, 0, 0), metrics);
  }
};

}  // namespace sluice
