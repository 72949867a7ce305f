#pragma once
#include <nanobind/nanobind.h>

#include <string>

namespace sluice::python {

/// Keys and values of cases, for python/sluice/case.py.
void add_case_text(nanobind::module_& module);

/// A message of the program with the arguments of Python in place of the options of the command line.
std::string for_python(std::string message);

}  // namespace sluice::python
