#pragma once
#include <vector>

#include "model/parameters.hpp"
#include "solver/correction/velocity.hpp"
#include "solver/grid/grid.hpp"
#include "solver/momentum/row_task.hpp"

namespace sluice {

/// Forces per mass that act in the whole volume: the Coriolis force of a rotating frame, and buoyancy. They are part of
/// the tendency R of eqs. (1) and (5), but loops of their own add them, so that flows without them cost nothing: on a
/// CPU tasks of the momentum sweep, on a GPU sweeps after it. Each touches only the components that its force acts on.
class BodyForces {
 public:
  BodyForces(const Metrics& metrics, const FlowParameters& flow);

  /// Whether add() does anything.
  bool active() const { return rotation_.active() || buoyancy_.active(); }

  /// tendency += F(u), star += alpha dt F(u); see Momentum::predict. The Coriolis force needs a corrected velocity. The
  /// velocity and the buoyant scalar need valid halos; no halo is written. Local.
  void add(const VelocityToCorrect& velocity, const std::vector<TransportedField>& scalars, double alpha_dt,
           VectorField& tendency, VectorField& star) const;
  /// The same for each row, with the same bits; the row provides the velocity. All arguments and this object must
  /// outlive the task.
  RowTask row_task(const std::vector<TransportedField>& scalars, double alpha_dt, VectorField& tendency,
                   VectorField& star) const;

 private:
  View3<const real> buoyant_scalar(const std::vector<TransportedField>& scalars) const;

  Metrics metrics_;
  Order order_;
  RotationParameters rotation_;
  BuoyancyParameters buoyancy_;
  std::size_t buoyant_ = 0;  ///< number of the scalar
};

}  // namespace sluice
