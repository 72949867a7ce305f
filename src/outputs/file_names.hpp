#pragma once
#include <vector>

#include "io/case/case_file.hpp"

namespace sluice {

/// The names of scalars and probes in a case that a file of a run uses for something else. All outputs count, even
/// those that are off: a restart may switch them on. The names come from the writers of the files.
std::vector<io::KeyFault> name_conflicts(const io::Case& settings);

}  // namespace sluice
