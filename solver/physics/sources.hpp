#pragma once
// The kinds of sources that a scalar may have. Code outside solver/physics calls these functions and names no source.
#include "solver/physics/source.hpp"

namespace sluice {

/// All sources, in the order of their keys in the case file.
PhysicsList all_sources();

/// The source of a scalar; a zero source if the case gives none.
const Source& source_of(const ScalarParameters& scalar);

}  // namespace sluice
