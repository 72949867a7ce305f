#pragma once
#include <optional>

#include "solver/physics/source.hpp"

namespace sluice {

/// A uniform source such that the volume mean keeps the value.
struct HeldMean {
  std::optional<double> value{};

  bool operator==(const HeldMean&) const = default;
};

const Source& held_mean();

}  // namespace sluice
