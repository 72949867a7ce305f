#pragma once
#include <nanobind/nanobind.h>

#include <string>

#include "model/field_descriptor.hpp"
#include "solver/walls/walls.hpp"

namespace sluice::python {

/// The functions of _core for walls, planes of the flow and mean forces.
void add_walls(nanobind::module_& module);

/// Of the name "bottom" or "top", and of the velocity "u", "v" or "w". Throw Error(usage) for other names.
Walls::Side side_of(const std::string& name);
Location component_of(const std::string& name);

}  // namespace sluice::python
