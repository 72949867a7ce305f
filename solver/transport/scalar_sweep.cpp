// R and c* of one scalar in each cell: beside the momentum sweep, row by row on a CPU, after it on a GPU.
#include "solver/transport/scalar_sweep.hpp"

#include <array>
#include <memory>
#include <utility>

#include "core/device/parallel_for.hpp"
#include "solver/correction/face_reader.hpp"
#include "solver/momentum/momentum_terms.hpp"
#include "solver/momentum/plane_ring.hpp"
#include "solver/transport/scalar_terms.hpp"

namespace sluice {

namespace {

/// R and c* of one cell. `faces`: the velocity; c: the field around the cell.
template <class Kind, class Faces, class F, class C, class M>
SLUICE_INLINE Prediction predict_scalar(const ScalarArrays& a, const Faces& faces, const F& c, const C& at, const M& m,
                                        real old_tendency) {
  real r = op::tendency_of_scalar<Kind::order, Kind::implicit_z>(faces, c, at, m, a.kappa) + a.uniform_source;
  if (a.streamwise_source != 0) r += a.streamwise_source * op::sum_above<Kind::order>(faces.u, -1) / 2;
  real star = c(at.i, at.j, at.k) + a.alpha_dt * r;
  if constexpr (!Kind::first) star += a.beta_dt * old_tendency;
  if constexpr (Kind::implicit_z) star += a.half_kappa_gamma_dt * op::d2dz2_center(c, at, m);
  return {r, star};
}

/// One GPU thread for each cell. The same kernel runs with or without a correction to apply, so that the bits do not
/// depend on which step left one.
template <class Kind>
struct UpdateScalar {
  using CellType = op::CellFor<Kind::order>;
  ScalarArrays a;
  SLUICE_INLINE void operator()(const CellType& at) const {
    const auto faces = FaceReader<Kind::order>::read(a.velocity, at, a.m);
    const real old = Kind::first ? real(0) : a.star(at.i, at.j, at.k);
    const Prediction result = predict_scalar<Kind>(a, faces, a.c, at, a.m, old);
    if (a.keeps_tendency) a.tendency(at.i, at.j, at.k) = result.tendency;
    a.star(at.i, at.j, at.k) = result.star;
  }
};

template <class Kind>
void update_row(const ScalarArrays& arrays, int nx, const VelocityRow& row, PaddedRow& padded, PaddedRow& unkept) {
  const auto [j, k] = std::pair(row.j, row.k);
  padded.copy(&arrays.c(0, j, k));
  const PaddedAround c = padded_around(padded, arrays.c, j, k);
  const ScalarArrays a = arrays;
  const Metrics m = a.m.seen_from(k);
  const VelocityRow velocity = row;
  real* const tendency = a.keeps_tendency ? &a.tendency(0, j, k) : unkept.begin();
  real* const star = &a.star(0, j, k);
  for_padded_row<Kind::order>(
      nx, [=](const op::CellFor<Kind::order>& at) __attribute__((always_inline)) {
        const auto faces = op::face_velocities(velocity.u, velocity.v, velocity.w, at);
        const real old = Kind::first ? real(0) : star[at.i];
        const Prediction result = predict_scalar<Kind>(a, faces, c, at, m, old);
        tendency[at.i] = result.tendency;
        star[at.i] = result.star;
      });
}

}  // namespace

void sweep_scalar(const ScalarArrays& arrays, const Box3& box, const SweepForm& form) {
  with_constants(form, [&](auto kind) { parallel_for("scalar", box, UpdateScalar<decltype(kind)>{arrays}); });
}

RowTask scalar_row_task(const ScalarArrays& arrays, int nx, const SweepForm& form) {
  RowTask task;
  with_constants(form, [&](auto kind) {
    task = [arrays, nx, rows = std::make_shared<std::array<PaddedRow, 2>>(std::array{PaddedRow(nx), PaddedRow(nx)})](
               const VelocityRow& row) { update_row<decltype(kind)>(arrays, nx, row, (*rows)[0], (*rows)[1]); };
  });
  return task;
}

}  // namespace sluice
