#pragma once
#include <vector>

#include "io/case/case_file.hpp"

namespace sluice {

/// The names that a case gives, of scalars and probes, which a file of a run has for something else. All outputs count,
/// whether the case asks for them or not: a restart may. The names come from the writers of the files.
std::vector<io::KeyFault> name_conflicts(const io::Case& settings);

}  // namespace sluice
