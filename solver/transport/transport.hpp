#pragma once
#include <vector>

#include "solver/momentum/momentum.hpp"
#include "solver/state/state.hpp"
#include "solver/transport/transport_equation.hpp"

namespace sluice {

/// Advances the transported fields of a state together with the velocity, each by its own equation, with the same
/// weights: c* = c + alpha dt R + beta dt R_prev. Owns c* and R of each field.
class Transport {
 public:
  Transport(std::vector<TransportEquation> equations, const Box3& box, const Metrics& metrics, Order order);

  const std::vector<TransportEquation>& equations() const { return equations_; }
  /// The descriptors of the fields, in the order of State::transported.
  std::vector<FieldDescriptor> fields() const;

  /// Computes R and c* of every field. The velocity and the fields need valid halos; no halo is written. Local.
  void predict(const State& state, const SubstepWeights& weights);
  /// Makes c* the field and R the old tendency. Halos of the fields are stale on return. Local.
  void accept(State& state);

 private:
  struct Work {
    Field star;  ///< c*; between substeps the old tendency
    Field tendency;
  };

  std::vector<TransportEquation> equations_;
  std::vector<Work> work_;
  Box3 box_;
  Metrics metrics_;
};

}  // namespace sluice
