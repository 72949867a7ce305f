#pragma once
#include "model/parameters.hpp"
#include "solver/correction/velocity.hpp"
#include "solver/grid/grid.hpp"
#include "solver/momentum/momentum.hpp"
#include "solver/momentum/row_task.hpp"

namespace sluice {

/// What the sweep of one scalar reads and writes. star holds the old tendency on entry and c* on return.
struct ScalarArrays {
  View3<const real> c;
  View3<real> tendency, star;
  Metrics m;
  real kappa;
  real uniform_source;     ///< added to R
  real streamwise_source;  ///< times u, added to R
  real alpha_dt, beta_dt;
  real half_kappa_gamma_dt;    ///< gamma dt kappa/2 with z-implicit diffusion
  bool keeps_tendency = true;  ///< as of SubstepWeights
  VelocityToCorrect velocity;
};

/// Words per cell of one scalar: c and c*; R unless it is the last substep; R_prev unless it is the first. A sweep,
/// which has no velocity in cache, also reads that, and phi if it corrects it.
constexpr int scalar_words(bool first, bool last, bool in_cache, bool corrects) {
  return 2 + (last ? 0 : 1) + (first ? 0 : 1) + (in_cache ? 0 : corrects ? 4 : 3);
}

/// R and c* = c + alpha dt R + beta dt R_prev [+ gamma dt kappa/2 Lz c] over a box of local indices.
void sweep_scalar(const ScalarArrays& arrays, const Box3& box, const SweepForm& form);

/// The same for rows of nx cells, with the velocity around the row, as a CPU's momentum sweep provides it, not that of
/// the arrays. The same bits.
RowTask scalar_row_task(const ScalarArrays& arrays, int nx, const SweepForm& form);

}  // namespace sluice
