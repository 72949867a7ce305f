#pragma once
#include <optional>

#include "solver/physics/source.hpp"

namespace sluice {

/// The same source everywhere.
struct UniformSource {
  std::optional<double> value{};

  bool operator==(const UniformSource&) const = default;
};

/// The source value * u: a mean gradient of -value along x.
struct StreamwiseSource {
  std::optional<double> value{};

  bool operator==(const StreamwiseSource&) const = default;
};

/// A uniform source such that the volume mean keeps the value.
struct HeldMean {
  std::optional<double> value{};

  bool operator==(const HeldMean&) const = default;
};

const Source& uniform_source();
const Source& streamwise_source();
const Source& held_mean();

}  // namespace sluice
