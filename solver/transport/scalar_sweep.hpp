#pragma once
#include "core/decomp/view3.hpp"
#include "model/parameters.hpp"
#include "solver/correction/pending_correction.hpp"
#include "solver/grid/grid.hpp"
#include "solver/momentum/row_task.hpp"

namespace sluice {

/// What the sweep of one scalar reads and writes. star holds the old tendency on entry and c* on return. With a pending
/// correction, u, v and w hold u*, and the sweep reads u formed from it.
struct ScalarArrays {
  View3<const real> u, v, w, c;
  View3<real> tendency, star;
  Metrics m;
  real kappa;
  real uniform_source;     ///< added to R
  real streamwise_source;  ///< times u, added to R
  real alpha_dt, beta_dt;
  real half_kappa_gamma_dt;  ///< gamma dt kappa/2 with z-implicit diffusion
  PendingCorrection pending{};
};

/// R and c* = c + alpha dt R + beta dt R_prev [+ gamma dt kappa/2 Lz c] over a box of local indices. `first`: the old
/// tendency is not read.
void sweep_scalar(const ScalarArrays& arrays, const Box3& box, Order order, bool first, bool implicit_z);

/// The same for rows of nx cells, with the velocity that a CPU's momentum sweep has corrected. The same bits.
RowTask scalar_row_task(const ScalarArrays& arrays, int nx, Order order, bool first, bool implicit_z);

}  // namespace sluice
