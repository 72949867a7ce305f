#pragma once
#include <nanobind/nanobind.h>

namespace sluice::python {

/// Initial fields that a script gives.
void add_initial(nanobind::module_& module);

}  // namespace sluice::python
