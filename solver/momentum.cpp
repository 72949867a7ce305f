#include "solver/momentum.hpp"

#include "core/device/parallel_for.hpp"
#include "solver/operators.hpp"

namespace sluice {

namespace {

using op::In;
using Out = View3<real>;

struct Arrays {
  In u, v, w, p;
  Out tendency_u, tendency_v, tendency_w;
  Out star_u, star_v, star_w;
  Metrics m;
  real nu, alpha_dt, beta_dt, gamma_dt, half_nu_gamma_dt;
};

/// u* = u + alpha dt R + beta dt R_prev - gamma dt dp/dx [+ gamma dt nu/2 Lz u], R_prev read from where u* is written.
template <bool first, bool implicit_z>
SLUICE_INLINE void predict_u(const Arrays& a, Cell c) {
  const real r = op::tendency_u<implicit_z>(a.u, a.v, a.w, c, a.m, a.nu);
  real star = a.u(c.i, c.j, c.k) + a.alpha_dt * r - a.gamma_dt * op::ddx_center_to_face(a.p, c, a.m);
  if constexpr (!first) star += a.beta_dt * a.star_u(c.i, c.j, c.k);
  if constexpr (implicit_z) star += a.half_nu_gamma_dt * op::d2dz2_center(a.u, c, a.m);
  a.tendency_u(c.i, c.j, c.k) = r;
  a.star_u(c.i, c.j, c.k) = star;
}

template <bool first, bool implicit_z>
SLUICE_INLINE void predict_v(const Arrays& a, Cell c) {
  const real r = op::tendency_v<implicit_z>(a.u, a.v, a.w, c, a.m, a.nu);
  real star = a.v(c.i, c.j, c.k) + a.alpha_dt * r - a.gamma_dt * op::ddy_center_to_face(a.p, c, a.m);
  if constexpr (!first) star += a.beta_dt * a.star_v(c.i, c.j, c.k);
  if constexpr (implicit_z) star += a.half_nu_gamma_dt * op::d2dz2_center(a.v, c, a.m);
  a.tendency_v(c.i, c.j, c.k) = r;
  a.star_v(c.i, c.j, c.k) = star;
}

template <bool first, bool implicit_z>
SLUICE_INLINE void predict_w(const Arrays& a, Cell c) {
  const real r = op::tendency_w<implicit_z>(a.u, a.v, a.w, c, a.m, a.nu);
  real star = a.w(c.i, c.j, c.k) + a.alpha_dt * r - a.gamma_dt * op::ddz_center_to_face(a.p, c, a.m);
  if constexpr (!first) star += a.beta_dt * a.star_w(c.i, c.j, c.k);
  if constexpr (implicit_z) star += a.half_nu_gamma_dt * op::d2dz2_face(a.w, c, a.m);
  a.tendency_w(c.i, c.j, c.k) = r;
  a.star_w(c.i, c.j, c.k) = star;
}

template <bool first, bool implicit_z>
struct PredictU {
  Arrays a;
  SLUICE_INLINE void operator()(Cell c) const { predict_u<first, implicit_z>(a, c); }
};
template <bool first, bool implicit_z>
struct PredictV {
  Arrays a;
  SLUICE_INLINE void operator()(Cell c) const { predict_v<first, implicit_z>(a, c); }
};
template <bool first, bool implicit_z>
struct PredictW {
  Arrays a;
  SLUICE_INLINE void operator()(Cell c) const { predict_w<first, implicit_z>(a, c); }
};

/// All three components, so that u, v, w and p are read from memory once.
template <bool first, bool implicit_z>
struct PredictVelocity {
  Arrays a;
  SLUICE_INLINE void operator()(Cell c) const {
    predict_u<first, implicit_z>(a, c);
    predict_v<first, implicit_z>(a, c);
    predict_w<first, implicit_z>(a, c);
  }
};

template <bool first, bool implicit_z>
struct Sweeps {
  static void fused(const Box3& box, const Arrays& a) {
    parallel_for("momentum", box, PredictVelocity<first, implicit_z>{a});
  }
  static void plain(const Box3& box, const Arrays& a) {
    parallel_for("momentum u", box, PredictU<first, implicit_z>{a});
    parallel_for("momentum v", box, PredictV<first, implicit_z>{a});
    parallel_for("momentum w", box, PredictW<first, implicit_z>{a});
  }
};

Arrays arrays_of(const State& state, const Metrics& metrics, real viscosity, const SubstepWeights& weights,
                 VectorField& tendency, VectorField& star) {
  const VectorField& velocity = state.velocity;
  return {velocity.u.view(),
          velocity.v.view(),
          velocity.w.view(),
          state.p.view(),
          tendency.u.view(),
          tendency.v.view(),
          tendency.w.view(),
          star.u.view(),
          star.v.view(),
          star.w.view(),
          metrics,
          viscosity,
          static_cast<real>(weights.alpha_dt),
          static_cast<real>(weights.beta_dt),
          static_cast<real>(weights.gamma_dt),
          static_cast<real>(weights.half_nu_gamma_dt)};
}

/// Calls action<first, implicit_z>() with the run-time choice as compile-time constants.
template <class Action>
void dispatch(bool first, bool implicit_z, const Action& action) {
  if (first) {
    implicit_z ? action(Sweeps<true, true>{}) : action(Sweeps<true, false>{});
  } else {
    implicit_z ? action(Sweeps<false, true>{}) : action(Sweeps<false, false>{});
  }
}

}  // namespace

Momentum::Momentum(const Metrics& metrics, const FlowParameters& flow)
    : metrics_(metrics), viscosity_(static_cast<real>(flow.viscosity)), diffusion_(flow.diffusion) {}

void Momentum::predict(const State& state, const SubstepWeights& weights, VectorField& tendency,
                       VectorField& star) const {
  const Arrays arrays = arrays_of(state, metrics_, viscosity_, weights, tendency, star);
  dispatch(weights.beta_dt == 0, diffusion_ == Diffusion::implicit_z,
           [&](auto sweeps) { sweeps.fused(state.p.local_box(), arrays); });
}

void Momentum::predict_plain(const State& state, const SubstepWeights& weights, VectorField& tendency,
                             VectorField& star) const {
  const Arrays arrays = arrays_of(state, metrics_, viscosity_, weights, tendency, star);
  dispatch(weights.beta_dt == 0, diffusion_ == Diffusion::implicit_z,
           [&](auto sweeps) { sweeps.plain(state.p.local_box(), arrays); });
}

}  // namespace sluice
