// The momentum equation (1) without force and pressure, or the right-hand side of (5): the first part of a substep.
#include "solver/momentum/momentum.hpp"

#include "core/device/parallel_for.hpp"
#include "solver/momentum/momentum_sweep.hpp"

namespace sluice {

namespace {

template <class Kind>
void sweep_plainly(const MomentumArrays& arrays, const Box3& box) {
  const CorrectedVelocity velocity = arrays.velocity.corrected();
  parallel_for("momentum u", box, UpdateComponents<Kind, Location::x_face>{arrays, velocity});
  parallel_for("momentum v", box, UpdateComponents<Kind, Location::y_face>{arrays, velocity});
  parallel_for("momentum w", box, UpdateComponents<Kind, Location::z_face>{arrays, velocity});
}

MomentumArrays arrays_of(const VelocityToCorrect& velocity, const Field& p, const Metrics& metrics, real viscosity,
                         const SubstepWeights& weights, VectorField& tendency, VectorField& star) {
  return {.p = p.view(),
          .updated_p = {},
          .tendency = {tendency.u.view(), tendency.v.view(), tendency.w.view()},
          .star = {star.u.view(), star.v.view(), star.w.view()},
          .m = metrics,
          .nu = viscosity,
          .alpha_dt = static_cast<real>(weights.alpha_dt),
          .beta_dt = static_cast<real>(weights.beta_dt),
          .gamma_dt = static_cast<real>(weights.gamma_dt),
          .half_nu_gamma_dt = static_cast<real>(weights.half_nu_gamma_dt),
          .keeps_tendency = weights.keeps_tendency,
          .velocity = velocity};
}

}  // namespace

Momentum::Momentum(const Metrics& metrics, const FlowParameters& flow)
    : metrics_(metrics),
      viscosity_(flow.diffusion == Diffusion::implicit ? 0 : static_cast<real>(flow.viscosity)),
      diffusion_(flow.diffusion),
      order_(flow.order) {}

SweepForm Momentum::form_of(const SubstepWeights& weights) const {
  return {.order = order_, .first = weights.beta_dt == 0, .implicit_z = diffusion_ != Diffusion::explicit_};
}

void Momentum::predict(const VelocityToCorrect& velocity, const Field& p, const SubstepWeights& weights,
                       VectorField& tendency, VectorField& star, const BesideMomentum& beside) const {
  MomentumArrays arrays = arrays_of(velocity, p, metrics_, viscosity_, weights, tendency, star);
  if (beside.updated_pressure != nullptr) arrays.updated_p = beside.updated_pressure->view();
  SweepForm form = form_of(weights);
  form.tiles = beside.tiles;
  sweep_momentum(arrays, p.local_box(), form, beside.tasks, beside.largest_rate);
}

bool Momentum::can_correct(const State& state, const Field& phi, VectorField& tendency, VectorField& star) const {
  const MomentumArrays arrays = arrays_of(state, state.p, metrics_, viscosity_, {}, tendency, star);
  return sluice::can_correct(arrays, phi.view(), state.p.local_box(), form_of({}));
}

void Momentum::predict_plain(const State& state, const SubstepWeights& weights, VectorField& tendency,
                             VectorField& star) const {
  const MomentumArrays arrays = arrays_of(state, state.p, metrics_, viscosity_, weights, tendency, star);
  with_constants(form_of(weights), [&](auto kind) { sweep_plainly<decltype(kind)>(arrays, state.p.local_box()); });
}

}  // namespace sluice
