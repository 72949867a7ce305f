#pragma once
// Paths in a case: relative ones, a home directory and environment variables.
#include <functional>
#include <optional>
#include <string>

#include "io/case/problems.hpp"
#include "io/case/yaml_tree.hpp"

namespace sluice::io {

/// The value of an environment variable, none if it is not set. All ranks must get the same one.
using VariableReader = std::function<std::optional<std::string>(const std::string& name)>;

/// Replaces ~ at the beginning of the paths of the case by the home directory, and $NAME and ${NAME} in them by the
/// value of that environment variable. Variables that are not set are problems.
void expand_paths(YamlNode& root, const VariableReader& variable, Problems& problems);

/// An absolute path. Relative paths start at the file's folder or, from the command line, at the working directory.
std::string absolute_path(const YamlNode& node, const std::string& base_directory);

/// The value of the key of this path, such as output.directory; null if there is none.
YamlNode* value_at(YamlNode& root, const std::string& path);

}  // namespace sluice::io
