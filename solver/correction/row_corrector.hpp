#pragma once
// Corrects the velocity in the rows that a CPU's sweep loads into cache.
#include <algorithm>

#include "core/device/parallel_for.hpp"
#include "solver/correction/velocity.hpp"

namespace sluice {

/// Where a row of u, v and w is loaded.
struct RowOfVelocity {
  real *u, *v, *w;
};

/// Eq. (3) in a row.
template <Order order>
void correct_row(const VelocityToCorrect& velocity, const Metrics& metrics, int nx, int j, int k,
                 const RowOfVelocity& to) {
  const CorrectionWeights weights = velocity.left().numbers.weights();
  const View3<const real> phi = velocity.phi();
  const Metrics m = metrics;
  const real response = velocity.response()[k];
  const real* const star_u = &velocity.stored_u()(0, j, k);
  const real* const star_v = &velocity.stored_v()(0, j, k);
  const real* const star_w = &velocity.stored_w()(0, j, k);
  const auto [u, v, w] = to;
  detail::for_row<op::CellFor<order>>(
      nx, j, k, [ =, u = u, v = v, w = w ](const op::CellFor<order>& cell) __attribute__((always_inline)) {
        const int i = cell.i;
        u[i] = corrected_u<order>(star_u[i], weights, phi, cell, m, response);
        v[i] = corrected_v<order>(star_v[i], weights, phi, cell, m, response);
        w[i] = corrected_w(star_w[i], weights, phi, cell, m);
      });
}

/// Copies row j of plane k, nx cells, and corrects it.
template <Order order>
void load_corrected_row(const VelocityToCorrect& velocity, const Metrics& m, int nx, int j, int k,
                        const RowOfVelocity& to) {
  if (velocity.any() && velocity.left().in_plane(k) && velocity.left().in_row(j)) {
    correct_row<order>(velocity, m, nx, j, k, to);
  } else {
    std::copy_n(&velocity.stored_u()(0, j, k), nx, to.u);
    std::copy_n(&velocity.stored_v()(0, j, k), nx, to.v);
    std::copy_n(&velocity.stored_w()(0, j, k), nx, to.w);
  }
}

}  // namespace sluice
