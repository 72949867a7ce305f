#pragma once
#include <nanobind/nanobind.h>

namespace sluice::python {

/// The cases and the directory of an ensemble.
void add_ensemble(nanobind::module_& module);

}  // namespace sluice::python
