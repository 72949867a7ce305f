#include "solver/transport/transport.hpp"

#include <utility>

#include "core/support/error.hpp"

namespace sluice {

Transport::Transport(std::vector<TransportEquation> equations, const Box3& box, const Metrics& metrics, Order order)
    : equations_(std::move(equations)), box_(box), metrics_(metrics) {
  for (const TransportEquation& equation : equations_)
    work_.push_back({make_field(equation.descriptor, box, order), make_field(equation.descriptor, box, order)});
}

std::vector<FieldDescriptor> Transport::fields() const {
  std::vector<FieldDescriptor> descriptors;
  for (const TransportEquation& equation : equations_) descriptors.push_back(equation.descriptor);
  return descriptors;
}

void Transport::predict(const State& state, const SubstepWeights& weights) {
  SLUICE_REQUIRE(state.transported.size() == equations_.size(), "the state has other fields than the stepper");
  const VectorField& velocity = state.velocity;
  for (std::size_t n = 0; n < equations_.size(); ++n) {
    const TransportArrays arrays{velocity.u.view(),
                                 velocity.v.view(),
                                 velocity.w.view(),
                                 state.transported[n].field.view(),
                                 work_[n].tendency.view(),
                                 work_[n].star.view(),
                                 metrics_,
                                 static_cast<real>(weights.alpha_dt),
                                 static_cast<real>(weights.beta_dt)};
    equations_[n].sweep(arrays, box_.local(), weights.beta_dt == 0);
  }
}

void Transport::accept(State& state) {
  for (std::size_t n = 0; n < work_.size(); ++n) {
    std::swap(state.transported[n].field, work_[n].star);
    std::swap(work_[n].star, work_[n].tendency);
  }
}

}  // namespace sluice
