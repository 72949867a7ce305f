#include "solver/momentum/momentum.hpp"

#include "core/device/parallel_for.hpp"
#include "solver/momentum/momentum_sweep.hpp"

namespace sluice {

namespace {

template <Order order, bool first, bool implicit_z>
struct UpdateU {
  using CellType = op::CellFor<order>;
  MomentumArrays a;
  SLUICE_INLINE void operator()(CellType c) const {
    update_u<order, first, implicit_z>(a, op::transports_of_u<order>(a.u, a.v, c, a.m), a.u, a.w, a.p, c);
  }
};
template <Order order, bool first, bool implicit_z>
struct UpdateV {
  using CellType = op::CellFor<order>;
  MomentumArrays a;
  SLUICE_INLINE void operator()(CellType c) const {
    update_v<order, first, implicit_z>(a, op::transports_of_v<order>(a.u, a.v, c, a.m), a.v, a.w, a.p, c);
  }
};
template <Order order, bool first, bool implicit_z>
struct UpdateW {
  using CellType = op::CellFor<order>;
  MomentumArrays a;
  SLUICE_INLINE void operator()(CellType c) const {
    update_w<order, first, implicit_z>(a, op::transports_of_w(a.u, a.v, c, a.m), a.w, a.p, c);
  }
};

template <Order order, bool first, bool implicit_z>
void sweep_plainly(const MomentumArrays& arrays, const Box3& box) {
  parallel_for("momentum u", box, UpdateU<order, first, implicit_z>{arrays});
  parallel_for("momentum v", box, UpdateV<order, first, implicit_z>{arrays});
  parallel_for("momentum w", box, UpdateW<order, first, implicit_z>{arrays});
}

MomentumArrays arrays_of(const State& state, const Metrics& metrics, real viscosity, const SubstepWeights& weights,
                         VectorField& tendency, VectorField& star, Field* updated_pressure = nullptr) {
  const VectorField& velocity = state.velocity;
  return {.u = velocity.u.view(),
          .v = velocity.v.view(),
          .w = velocity.w.view(),
          .p = state.p.view(),
          .updated_p = updated_pressure != nullptr ? updated_pressure->view() : View3<real>{},
          .tendency_u = tendency.u.view(),
          .tendency_v = tendency.v.view(),
          .tendency_w = tendency.w.view(),
          .star_u = star.u.view(),
          .star_v = star.v.view(),
          .star_w = star.w.view(),
          .m = metrics,
          .nu = viscosity,
          .alpha_dt = static_cast<real>(weights.alpha_dt),
          .beta_dt = static_cast<real>(weights.beta_dt),
          .gamma_dt = static_cast<real>(weights.gamma_dt),
          .half_nu_gamma_dt = static_cast<real>(weights.half_nu_gamma_dt),
          .pending = state.pending};
}

}  // namespace

Momentum::Momentum(const Metrics& metrics, const FlowParameters& flow)
    : metrics_(metrics),
      viscosity_(static_cast<real>(flow.viscosity)),
      diffusion_(flow.diffusion),
      order_(flow.order) {}

void Momentum::predict(const State& state, const SubstepWeights& weights, VectorField& tendency, VectorField& star,
                       const RowTasks& tasks, Deferred<double>* largest_rate, Field* updated_pressure) const {
  const MomentumArrays arrays = arrays_of(state, metrics_, viscosity_, weights, tendency, star, updated_pressure);
  sweep_momentum(arrays, state.p.local_box(), order_, weights.beta_dt == 0, diffusion_ == Diffusion::implicit_z, tasks,
                 largest_rate);
}

bool Momentum::takes_pending(const State& state, const Field& phi, VectorField& tendency, VectorField& star) const {
  const MomentumArrays arrays = arrays_of(state, metrics_, viscosity_, {}, tendency, star);
  return sluice::takes_pending(arrays, phi.view(), state.p.local_box(), order_, diffusion_ == Diffusion::implicit_z);
}

void Momentum::predict_plain(const State& state, const SubstepWeights& weights, VectorField& tendency,
                             VectorField& star) const {
  SLUICE_REQUIRE(!state.pending.any(), "the plain loops need a corrected velocity");
  const MomentumArrays arrays = arrays_of(state, metrics_, viscosity_, weights, tendency, star);
  with_constants(order_, weights.beta_dt == 0, diffusion_ == Diffusion::implicit_z, [&](auto kind) {
    sweep_plainly<kind.order, kind.first, kind.implicit_z>(arrays, state.p.local_box());
  });
}

}  // namespace sluice
