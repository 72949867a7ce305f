#pragma once
#include <memory>
#include <vector>

#include "model/parameters.hpp"
#include "solver/grid/grid.hpp"
#include "solver/physics/body_force.hpp"

namespace sluice {

/// The forces of the terms of a flow.
class BodyForces {
 public:
  BodyForces(const Metrics& metrics, const FlowParameters& flow);

  bool active() const { return !forces_.empty(); }

  /// Sum of BodyForce::words.
  int words() const;
  /// BodyForce::add of each.
  void add(const VelocityToCorrect& velocity, const std::vector<TransportedField>& scalars, double alpha_dt,
           VectorField& tendency, VectorField& star) const;
  /// Appends BodyForce::row_task of each.
  void append_tasks(const std::vector<TransportedField>& scalars, double alpha_dt, VectorField& tendency,
                    VectorField& star, RowTasks& tasks) const;

 private:
  std::vector<std::unique_ptr<BodyForce>> forces_;
};

}  // namespace sluice
