#pragma once
// Keys that can be switched on and off. In YAML 1.1 the words on, true and yes are one value, and off, false and no
// another; readers of YAML 1.2 know true and false.
#include <string>
#include <string_view>
#include <vector>

#include "io/case/keys.hpp"
#include "io/case/yaml_tree.hpp"

namespace sluice::io {

/// The words for a switch, in the spelling of YAML 1.2.
const std::vector<std::string>& switch_words();

/// Which of `allowed` a word for a switch means: on, or auto where there is no on; off. Empty if it means none of them.
std::string_view meaning_of_switch(std::string_view word, const std::vector<std::string>& allowed);

/// Writes each word for a switch as its key has it. `root`: a case.
void settle_switches(YamlNode& root);

}  // namespace sluice::io
