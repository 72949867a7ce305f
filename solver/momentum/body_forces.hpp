#pragma once
#include "core/flow/parameters.hpp"
#include "solver/grid/grid.hpp"
#include "solver/state/state.hpp"

namespace sluice {

/// Forces per mass that act in the whole volume: the Coriolis force of a rotating frame, and buoyancy. They are part of
/// the tendency R of eqs. (1) and (5), but have sweeps of their own after the momentum sweep, so that flows without
/// them cost nothing. Each sweep touches only the components that its force acts on.
class BodyForces {
 public:
  BodyForces(const Metrics& metrics, const FlowParameters& flow);

  /// Whether add() does anything.
  bool active() const { return rotation_.active() || buoyancy_.active(); }

  /// tendency += F(u), star += alpha dt F(u); see Momentum::predict. The velocity and the buoyant scalar need
  /// valid halos; no halo is written. Local.
  void add(const State& state, double alpha_dt, VectorField& tendency, VectorField& star) const;

 private:
  Metrics metrics_;
  Order order_;
  RotationParameters rotation_;
  BuoyancyParameters buoyancy_;
  std::size_t buoyant_ = 0;  ///< number of the scalar
};

}  // namespace sluice
