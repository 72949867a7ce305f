#include "solver/transport/scalar_sweep.hpp"

#include "core/device/parallel_for.hpp"
#include "solver/momentum/momentum_terms.hpp"
#include "solver/transport/scalar_terms.hpp"

namespace sluice {

namespace {

template <Order order, bool first, bool implicit_z>
struct UpdateScalar {
  using CellType = op::CellFor<order>;
  ScalarArrays a;
  SLUICE_INLINE void operator()(const CellType& at) const {
    real r = op::tendency_of_scalar<order, implicit_z>(a.u, a.v, a.w, a.c, at, a.m, a.kappa) + a.uniform_source;
    if (a.streamwise_source != 0) r += a.streamwise_source * op::sum_above<order>(op::along_x(a.u, at), -1) / 2;
    real star = a.c(at.i, at.j, at.k) + a.alpha_dt * r;
    if constexpr (!first) star += a.beta_dt * a.star(at.i, at.j, at.k);
    if constexpr (implicit_z) star += a.half_kappa_gamma_dt * op::d2dz2_center(a.c, at, a.m);
    a.tendency(at.i, at.j, at.k) = r;
    a.star(at.i, at.j, at.k) = star;
  }
};

}  // namespace

void sweep_scalar(const ScalarArrays& arrays, const Box3& box, Order order, bool first, bool implicit_z) {
  with_constants(order, first, implicit_z, [&](auto kind) {
    parallel_for("scalar", box, UpdateScalar<kind.order, kind.first, kind.implicit_z>{arrays});
  });
}

}  // namespace sluice
