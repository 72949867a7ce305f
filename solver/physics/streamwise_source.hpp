#pragma once
#include <optional>

#include "solver/physics/source.hpp"

namespace sluice {

/// The source value * u: a mean gradient of -value along x.
struct StreamwiseSource {
  std::optional<double> value{};

  bool operator==(const StreamwiseSource&) const = default;
};

const Source& streamwise_source();

}  // namespace sluice
