#pragma once
#include <nanobind/nanobind.h>

namespace sluice::python {

/// The functions of _core for walls, planes of the flow and mean forces.
void add_walls(nanobind::module_& module);

}  // namespace sluice::python
