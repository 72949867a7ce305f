#pragma once
// The --set KEY=VALUE arguments of the command line.
#include <string>
#include <vector>

#include "io/case/problems.hpp"
#include "io/case/yaml_tree.hpp"

namespace sluice::io {

/// Puts each KEY=VALUE into the tree, in order: VALUE replaces what the key holds, a whole section too.
/// Alternatives of the key (time.dt for time.cfl, the other Reynolds numbers), and keys that a new `type` has
/// no use for, are removed. Problems of the arguments themselves are noted; what the values mean is for
/// check_keys to judge.
void apply_overrides(YamlNode& root, const std::vector<std::string>& overrides, Problems& problems);

}  // namespace sluice::io
