#pragma once
// The stages of parse_case: a YAML tree is checked against the key table, becomes a Case with defaults and presets, and
// the rules between keys are applied.
#include <string>
#include <vector>

#include "io/case/case.hpp"
#include "io/case/keys.hpp"
#include "io/case/problems.hpp"
#include "io/case/yaml_tree.hpp"

namespace sluice::io {

/// The words for a switch, in the spelling of YAML 1.2.
const std::vector<std::string>& switch_words();

/// Which of `allowed` a word for a switch means: on, or auto where there is no on; off. Empty if it means none of them.
std::string_view meaning_of_switch(std::string_view word, const std::vector<std::string>& allowed);

/// Reports in `problems` every deviation of the case from the key table.
void check_keys(const YamlNode& root, Problems& problems);

/// True if the value is one of the words that the key allows in place of a value: none, auto.
bool is_word_of(const Key& key, const YamlNode& value);

/// Whether a case can have only one of the two.
bool is_alternative(const Key& one, const Key& other);

/// Whether a key belongs to the given or default `type` of its section.
enum class Fit {
  yes,
  no,
  unknown,  ///< keys elsewhere preset the type, or the type is invalid (reported separately)
};
Fit fit_to_type(const Key& key, const YamlNode& section);

/// The values of absent keys. Of earlier versions: those that the flow had before the key existed.
enum class Defaults { of_this_version, of_earlier_versions };

/// Reads the values of a tree that check_keys has checked. Keys with problems may get any value. base_directory: the
/// folder that relative paths in the file start from.
Case build_case(const YamlNode& root, const std::string& base_directory, Defaults defaults);

/// Reports contradictions between keys that are valid on their own.
void check_rules(const Case& settings, const YamlNode& root, const std::vector<std::string>& exchange_methods,
                 Problems& problems);

}  // namespace sluice::io
