#pragma once
#include "io/case/case.hpp"
#include "io/case/problems.hpp"
#include "io/case/yaml_tree.hpp"

namespace sluice::io {

/// The rules of scalars; part of check_rules.
void check_scalar_rules(const Case& settings, const YamlNode& root, Problems& problems);

}  // namespace sluice::io
