#pragma once
#include "solver/physics/buoyancy.hpp"

namespace sluice::test {

inline BuoyancyParameters& buoyancy_of(FlowParameters& flow) {
  return flow.terms.edit<BuoyancyParameters>();
}
inline const BuoyancyParameters& buoyancy_of(const FlowParameters& flow) {
  return flow.terms.of<BuoyancyParameters>();
}

}  // namespace sluice::test
