#pragma once
// From a checked YAML tree to a Case: defaults, presets, and the rules that tie several keys together.
#include <string>
#include <vector>

#include "io/case/case.hpp"
#include "io/case/problems.hpp"
#include "io/case/yaml_tree.hpp"

namespace sluice::io {

/// Reads the values of a tree that check_keys has seen. Keys with problems read as anything.
/// base_directory: what paths of the file resolve against.
Case build_case(const YamlNode& root, const std::string& base_directory);

/// Notes the contradictions between keys that are good each by itself.
void check_rules(const Case& settings, const YamlNode& root, const std::vector<std::string>& exchange_methods,
                 Problems& problems);

}  // namespace sluice::io
