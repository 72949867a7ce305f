#pragma once
#include "solver/physics/rotation.hpp"

namespace sluice::test {

inline RotationParameters& rotation_of(FlowParameters& flow) {
  return flow.terms.edit<RotationParameters>();
}
inline const RotationParameters& rotation_of(const FlowParameters& flow) {
  return flow.terms.of<RotationParameters>();
}

}  // namespace sluice::test
