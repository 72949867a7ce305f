#include "solver/transport/scalar_sweep.hpp"

#include <memory>
#include <utility>

#include "core/device/parallel_for.hpp"
#include "solver/correction/correction.hpp"
#include "solver/momentum/momentum_terms.hpp"
#include "solver/momentum/plane_ring.hpp"
#include "solver/transport/scalar_terms.hpp"

namespace sluice {

namespace {

/// R and c* of one cell. `faces`: the velocity; c: the field around the cell.
template <Order order, bool first, bool implicit_z, class Faces, class F, class C, class M>
SLUICE_INLINE Prediction predict_scalar(const ScalarArrays& a, const Faces& faces, const F& c, const C& at, const M& m,
                                        real old_tendency) {
  real r = op::tendency_of_scalar<order, implicit_z>(faces, c, at, m, a.kappa) + a.uniform_source;
  if (a.streamwise_source != 0) r += a.streamwise_source * op::sum_above<order>(faces.u, -1) / 2;
  real star = c(at.i, at.j, at.k) + a.alpha_dt * r;
  if constexpr (!first) star += a.beta_dt * old_tendency;
  if constexpr (implicit_z) star += a.half_kappa_gamma_dt * op::d2dz2_center(c, at, m);
  return {r, star};
}

/// Values around the middle of a line, in registers.
template <int count>
struct Values {
  real of[count];
  SLUICE_INLINE real operator()(int n) const { return of[n + count / 2]; }
};

/// The velocity at the faces that differences of this order read: of u, and of v, at -count/2 to count/2 - 1.
template <Order order>
struct Faces {
  static constexpr int count = order == Order::fourth ? 4 : 2;
  static constexpr int reach = op::CellFor<order>::reach;
  using Velocities = op::FaceVelocities<Values<count>, Values<count>>;

  SLUICE_INLINE static Velocities stored(const ScalarArrays& a, const op::CellFor<order>& at) {
    Velocities faces{{}, {}, a.w(at.i, at.j, at.k - 1), a.w(at.i, at.j, at.k)};
    SLUICE_UNROLL
    for (int n = 0; n < count; ++n) {
      faces.u.of[n] = a.u(at.x(n - count / 2), at.j, at.k);
      faces.v.of[n] = a.v(at.i, at.j + n - count / 2, at.k);
    }
    return faces;
  }

  /// Turns u* into u. All of phi is loaded first, so that no load waits for a branch.
  SLUICE_INLINE static void correct(Velocities& faces, const ScalarArrays& a, const op::CellFor<order>& at) {
    const PendingCorrection& pending = a.pending;
    const Correction& correction = pending.correction;
    const View3<const real>& phi = correction.phi;
    const int i = at.i;
    const int j = at.j;
    const int k = at.k;
    Values<2 * reach + 1> along_x, along_y;
    SLUICE_UNROLL
    for (int n = -reach; n <= reach; ++n) {
      // Rows beyond those that cells with a pending correction read.
      const int row = j + n < 0 ? 0 : j + n > pending.ny - 1 ? pending.ny - 1 : j + n;
      along_x.of[n + reach] = phi(at.x(n), j, k);
      along_y.of[n + reach] = phi(i, row, k);
    }
    const real below = phi(i, j, k - 1);
    const real above = phi(i, j, k + 1);
    const real response = correction.response[k];
    const bool in_plane = pending.in_plane(k);
    const bool in_row = pending.in_row(j);
    SLUICE_UNROLL
    for (int n = 0; n < count; ++n) {
      const int face = n - count / 2;
      const real u = corrected_u_on_line<order>(faces.u.of[n], correction, along_x, face, a.m, response);
      const real v = corrected_v_on_line<order>(faces.v.of[n], correction, along_y, face, a.m, response);
      if (in_plane && in_row) faces.u.of[n] = u;
      if (in_plane && pending.in_row(j + face)) faces.v.of[n] = v;
    }
    const real w_below = corrected_w_between(faces.w_below, correction, below, along_x(0), a.m, k - 1);
    const real w_above = corrected_w_between(faces.w_above, correction, along_x(0), above, a.m, k);
    if (pending.in_plane(k - 1) && in_row) faces.w_below = w_below;
    if (in_plane && in_row) faces.w_above = w_above;
  }
};

/// A thread of a GPU for each cell. One kernel with and without a pending correction, so that the bits do not depend on
/// which step left one.
template <Order order, bool first, bool implicit_z>
struct UpdateScalar {
  using CellType = op::CellFor<order>;
  ScalarArrays a;
  SLUICE_INLINE void operator()(const CellType& at) const {
    auto faces = Faces<order>::stored(a, at);
    if (a.pending.any()) Faces<order>::correct(faces, a, at);
    const real old = first ? real(0) : a.star(at.i, at.j, at.k);
    const Prediction result = predict_scalar<order, first, implicit_z>(a, faces, a.c, at, a.m, old);
    a.tendency(at.i, at.j, at.k) = result.tendency;
    a.star(at.i, at.j, at.k) = result.star;
  }
};

template <Order order, bool first, bool implicit_z>
void update_row(const ScalarArrays& arrays, int nx, const VelocityRow& row, PaddedRow& padded) {
  const auto [j, k] = std::pair(row.j, row.k);
  padded.copy(&arrays.c(0, j, k));
  const PaddedAround c = padded_around(padded, arrays.c, j, k);
  const ScalarArrays a = arrays;
  const Metrics m = a.m.seen_from(k);
  const VelocityRow velocity = row;
  real* const tendency = &a.tendency(0, j, k);
  real* const star = &a.star(0, j, k);
  for_padded_row<order>(
      nx, [=](const op::CellFor<order>& at) __attribute__((always_inline)) {
        const auto faces = op::face_velocities(velocity.u, velocity.v, velocity.w, at);
        const real old = first ? real(0) : star[at.i];
        const Prediction result = predict_scalar<order, first, implicit_z>(a, faces, c, at, m, old);
        tendency[at.i] = result.tendency;
        star[at.i] = result.star;
      });
}

}  // namespace

void sweep_scalar(const ScalarArrays& arrays, const Box3& box, Order order, bool first, bool implicit_z) {
  with_constants(order, first, implicit_z, [&](auto kind) {
    parallel_for("scalar", box, UpdateScalar<kind.order, kind.first, kind.implicit_z>{arrays});
  });
}

RowTask scalar_row_task(const ScalarArrays& arrays, int nx, Order order, bool first, bool implicit_z) {
  RowTask task;
  with_constants(order, first, implicit_z, [&](auto kind) {
    using Kind = decltype(kind);
    task = [arrays, nx, padded = std::make_shared<PaddedRow>(nx)](const VelocityRow& row) {
      update_row<Kind::order, Kind::first, Kind::implicit_z>(arrays, nx, row, *padded);
    };
  });
  return task;
}

}  // namespace sluice
