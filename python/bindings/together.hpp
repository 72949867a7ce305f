#pragma once
#include <nanobind/nanobind.h>

namespace sluice::python {

/// Planes and walls of several sessions that are read or set together.
void add_together(nanobind::module_& module);

}  // namespace sluice::python
