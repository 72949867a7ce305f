#include "io/case/case_file.hpp"

#include "io/case/case_builder.hpp"
#include "io/case/key_check.hpp"
#include "io/case/overrides.hpp"
#include "io/case/problems.hpp"
#include "io/case/rule_notes.hpp"
#include "io/case/switches.hpp"
#include "io/case/yaml_tree.hpp"

namespace sluice::io {

namespace {

Case parse(const std::string& text, const std::string& file_name, const std::vector<std::string>& overrides,
           const std::string& base_directory, const std::vector<std::string>& exchange_methods, Defaults defaults,
           const TextReader& read_file, const VariableReader& variable, const FurtherRules& further_rules) {
  Problems problems(file_name, overrides);
  std::optional<YamlNode> root = read_yaml(text, Place::file, "", problems);
  if (!root) {
    // Still read the arguments, so that their errors are reported too.
    YamlNode nothing = empty_map();
    apply_overrides(nothing, overrides, problems);
    problems.raise();
  }
  apply_overrides(*root, overrides, problems);
  if (variable) expand_paths(*root, variable, problems);
  // Earlier versions let them through, and stored them.
  if (defaults == Defaults::of_this_version) note_control_characters(*root, "", problems);
  load_tables(*root, base_directory, read_file, problems);
  settle_switches(*root);
  check_keys(*root, problems);
  Case settings = build_case(*root, base_directory, defaults);
  check_rules(settings, *root, exchange_methods, problems);
  problems.raise();
  if (further_rules) {
    RuleNotes notes(*root, problems);
    for (const auto& [path, what] : further_rules(settings)) notes.add(path, what);
    problems.raise();
  }
  return settings;
}

}  // namespace

Case parse_case(const std::string& text, const std::string& file_name, const std::vector<std::string>& overrides,
                const std::string& base_directory, const std::vector<std::string>& exchange_methods,
                const TextReader& read_file, const VariableReader& variable, const FurtherRules& further_rules) {
  return parse(text, file_name, overrides, base_directory, exchange_methods, Defaults::of_this_version, read_file,
               variable, further_rules);
}

Case parse_stored_case(const std::string& text, const std::string& name) {
  return parse(text, name, {}, "/", known_exchange_methods(), Defaults::of_earlier_versions, {}, {}, {});
}

}  // namespace sluice::io
