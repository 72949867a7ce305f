#pragma once
// Checks a case file against the key table: unknown and missing keys, contradictions, types, ranges, list lengths.
#include "io/case/keys.hpp"
#include "io/case/problems.hpp"
#include "io/case/yaml_tree.hpp"

namespace sluice::io {

/// Reports in `problems` every deviation of the case from the key table.
void check_keys(const YamlNode& root, Problems& problems);

/// True if the value is one of the words that the key allows in place of a value: none, auto.
bool is_word_of(const Key& key, const YamlNode& value);

/// Whether a key belongs to the given or default `type` of its section.
enum class Fit {
  yes,
  no,
  unknown,  ///< keys elsewhere preset the type, or the type is invalid (reported separately)
};
Fit fit_to_type(const Key& key, const YamlNode& section);

}  // namespace sluice::io
