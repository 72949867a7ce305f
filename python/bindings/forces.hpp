#pragma once
#include <nanobind/nanobind.h>

namespace sluice::python {

/// Forces and sources of scalars that a script gives.
void add_forces(nanobind::module_& module);

}  // namespace sluice::python
