#pragma once
// The --set KEY=VALUE arguments of the command line.
#include <string>
#include <vector>

#include "io/case/problems.hpp"
#include "io/case/yaml_tree.hpp"

namespace sluice::io {

/// Stores each KEY=VALUE in the tree, in order: VALUE replaces the key's value, even a whole section. Removes
/// alternatives of the key (time.dt for time.cfl, the other Reynolds numbers) and keys that do not belong to a new
/// `type`. Reports problems of the arguments themselves; check_keys judges the values.
void apply_overrides(YamlNode& root, const std::vector<std::string>& overrides, Problems& problems);

}  // namespace sluice::io
