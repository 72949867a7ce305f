#include "solver/momentum/momentum.hpp"

#include "core/device/parallel_for.hpp"
#include "solver/momentum/momentum_sweep.hpp"

namespace sluice {

namespace {

template <Order order, bool first, bool implicit_z>
struct UpdateU {
  using CellType = op::CellFor<order>;
  MomentumArrays a;
  CorrectedVelocity velocity;
  SLUICE_INLINE void operator()(CellType c) const {
    const auto& [u, v, w] = velocity;
    update_u<order, first, implicit_z>(a, op::transports_of_u<order>(u, v, c, a.m), u, w, a.p, c);
  }
};
template <Order order, bool first, bool implicit_z>
struct UpdateV {
  using CellType = op::CellFor<order>;
  MomentumArrays a;
  CorrectedVelocity velocity;
  SLUICE_INLINE void operator()(CellType c) const {
    const auto& [u, v, w] = velocity;
    update_v<order, first, implicit_z>(a, op::transports_of_v<order>(u, v, c, a.m), v, w, a.p, c);
  }
};
template <Order order, bool first, bool implicit_z>
struct UpdateW {
  using CellType = op::CellFor<order>;
  MomentumArrays a;
  CorrectedVelocity velocity;
  SLUICE_INLINE void operator()(CellType c) const {
    const auto& [u, v, w] = velocity;
    update_w<order, first, implicit_z>(a, op::transports_of_w(u, v, c, a.m), w, a.p, c);
  }
};

template <Order order, bool first, bool implicit_z>
void sweep_plainly(const MomentumArrays& arrays, const Box3& box) {
  const CorrectedVelocity velocity = arrays.velocity.corrected();
  parallel_for("momentum u", box, UpdateU<order, first, implicit_z>{arrays, velocity});
  parallel_for("momentum v", box, UpdateV<order, first, implicit_z>{arrays, velocity});
  parallel_for("momentum w", box, UpdateW<order, first, implicit_z>{arrays, velocity});
}

MomentumArrays arrays_of(const VelocityToCorrect& velocity, const Field& p, const Metrics& metrics, real viscosity,
                         const SubstepWeights& weights, VectorField& tendency, VectorField& star) {
  return {.p = p.view(),
          .updated_p = {},
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
          .velocity = velocity};
}

}  // namespace

Momentum::Momentum(const Metrics& metrics, const FlowParameters& flow)
    : metrics_(metrics),
      viscosity_(static_cast<real>(flow.viscosity)),
      diffusion_(flow.diffusion),
      order_(flow.order) {}

void Momentum::predict(const VelocityToCorrect& velocity, const Field& p, const SubstepWeights& weights,
                       VectorField& tendency, VectorField& star, const BesideMomentum& beside) const {
  MomentumArrays arrays = arrays_of(velocity, p, metrics_, viscosity_, weights, tendency, star);
  if (beside.updated_pressure != nullptr) arrays.updated_p = beside.updated_pressure->view();
  sweep_momentum(arrays, p.local_box(), order_, weights.beta_dt == 0, diffusion_ == Diffusion::implicit_z, beside.tasks,
                 beside.largest_rate);
}

bool Momentum::can_correct(const State& state, const Field& phi, VectorField& tendency, VectorField& star) const {
  const MomentumArrays arrays = arrays_of(state, state.p, metrics_, viscosity_, {}, tendency, star);
  return sluice::can_correct(arrays, phi.view(), state.p.local_box(), order_, diffusion_ == Diffusion::implicit_z);
}

void Momentum::predict_plain(const State& state, const SubstepWeights& weights, VectorField& tendency,
                             VectorField& star) const {
  const MomentumArrays arrays = arrays_of(state, state.p, metrics_, viscosity_, weights, tendency, star);
  with_constants(order_, weights.beta_dt == 0, diffusion_ == Diffusion::implicit_z, [&](auto kind) {
    sweep_plainly<kind.order, kind.first, kind.implicit_z>(arrays, state.p.local_box());
  });
}

}  // namespace sluice
