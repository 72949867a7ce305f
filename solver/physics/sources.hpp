#pragma once
// The kinds of sources that a scalar may have. Code outside of solver/physics asks here and names none.
#include "solver/physics/source.hpp"

namespace sluice {

/// All sources, in the order of their keys in the case file.
PhysicsList all_sources();

/// That of a scalar; one that is zero if the case gives none.
const Source& source_of(const ScalarParameters& scalar);

}  // namespace sluice
