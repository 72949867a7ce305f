#pragma once
#include <optional>

#include "solver/physics/source.hpp"

namespace sluice {

/// The same source everywhere.
struct UniformSource {
  std::optional<double> value{};

  bool operator==(const UniformSource&) const = default;
};

const Source& uniform_source();

}  // namespace sluice
