#pragma once
// Eq. (6) at one point, for a sweep of its own and for the momentum sweep. Both give the same bits.
#include "core/stencil/second_differences.hpp"
#include "solver/correction/pending_correction.hpp"

namespace sluice {

/// p at the centre. phi: the field around the cell.
template <class F, class C, class M>
SLUICE_INLINE real updated_pressure(real old, const Correction& a, const F& phi, const C& c, const M& m) {
  return old + multiply_add(-a.half_nu_gamma_dt, op::d2dz2_center(phi, c, m), phi(c.i, c.j, c.k));
}

}  // namespace sluice
