#pragma once
// A case file against the key table: unknown and missing keys, contradictions, types, ranges and list
// lengths.
#include "io/case/keys.hpp"
#include "io/case/problems.hpp"
#include "io/case/yaml_tree.hpp"

namespace sluice::io {

/// Notes in `problems` everything in which the case differs from the key table.
void check_keys(const YamlNode& root, Problems& problems);

/// True if the value is one of the words that the key allows in place of a value: none, auto.
bool is_word_of(const Key& key, const YamlNode& value);

/// Whether a key belongs to the `type` of its section, as given or as it is by default.
enum class Fit {
  yes,
  no,
  unknown,  ///< the type is preset by keys elsewhere, or is no type at all (which is reported on its own)
};
Fit fit_to_type(const Key& key, const YamlNode& section);

}  // namespace sluice::io
