#pragma once
// From a checked YAML tree to a Case: defaults, presets, and the rules between keys.
#include <string>
#include <vector>

#include "io/case/case.hpp"
#include "io/case/problems.hpp"
#include "io/case/yaml_tree.hpp"

namespace sluice::io {

/// The values of absent keys. Of earlier versions: those that the flow had before the key existed.
enum class Defaults { of_this_version, of_earlier_versions };

/// Reads the values of a tree that check_keys has checked. Keys with problems may get any value. base_directory: the
/// folder that relative paths in the file start from.
Case build_case(const YamlNode& root, const std::string& base_directory, Defaults defaults);

/// Reports contradictions between keys that are valid on their own.
void check_rules(const Case& settings, const YamlNode& root, const std::vector<std::string>& exchange_methods,
                 Problems& problems);

}  // namespace sluice::io
