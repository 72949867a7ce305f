#include "io/case/case_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "io/case/case_stages.hpp"
#include "io/case/keys.hpp"
#include "io/case/problems.hpp"
#include "io/case/yaml_tree.hpp"

namespace sluice::io {

namespace {

using Kind = YamlNode::Kind;

// The map of section `path`, created if it is absent, empty, or a word such as none. Null if the file has anything else
// there, which check_keys reports.
YamlNode* open_section(YamlNode& root, const std::string& path, const Place& place) {
  YamlNode* node = &root;
  std::size_t begin = 0;
  std::string walked;
  while (begin < path.size() && node->kind == Kind::map) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    walked = join_path(walked, name);
    if (node->find(name) == nullptr) {
      node->entries.push_back({name, place, empty_map(place)});
    }
    node = node->find(name);
    if (node->kind == Kind::null || is_word_of(*find_key(walked), *node)) {
      // A word given for the whole section becomes the value of each of its keys that accepts this word.
      const YamlNode word = std::exchange(*node, empty_map(place));
      for (const Key* key : keys_of(walked)) {
        if (contains(key->value.choices, word.text)) node->entries.push_back({key->name(), place, word});
      }
    }
    begin = end + 1;
  }
  return node->kind == Kind::map ? node : nullptr;
}

void put(YamlNode& section, const Key& key, const Place& place, YamlNode value) {
  const std::string name = key.name();
  std::erase_if(section.entries,
                [&](const YamlEntry& entry) { return entry.name == name || contains(key.excludes, entry.name); });
  section.entries.push_back({name, place, std::move(value)});
  if (name != "type") return;
  std::vector<std::string> useless;
  for (const auto& entry : section.entries) {
    const Key* sibling = find_key(join_path(key.section(), entry.name));
    if (sibling != nullptr && fit_to_type(*sibling, section) == Fit::no) useless.push_back(entry.name);
  }
  std::erase_if(section.entries, [&](const YamlEntry& entry) { return contains(useless, entry.name); });
}

// Sets a key of ensemble.vary, which has paths as names.
void put_varied(YamlNode& root, const std::string& path, const Place& place, YamlNode value) {
  YamlNode* section = open_section(root, "ensemble", place);
  if (section == nullptr) return;
  if (section->find("vary") == nullptr) section->entries.push_back({"vary", place, empty_map(place)});
  YamlNode& varied = *section->find("vary");
  if (varied.kind == Kind::null) varied = empty_map(place);
  if (varied.kind != Kind::map) return;  // check_keys reports it
  const Key* key = find_key(path);
  std::erase_if(varied.entries, [&](const YamlEntry& entry) {
    const Key* other = find_key(entry.name);
    return entry.name == path || (key != nullptr && other != nullptr && is_alternative(*key, *other));
  });
  varied.entries.push_back({path, place, std::move(value)});
}

void apply_override(YamlNode& root, const std::string& argument, int source, Problems& problems) {
  const Place place{source, 1, 1};
  const auto equals = argument.find('=');
  if (equals == std::string::npos) {
    problems.add(place, "", "no '='; allowed: KEY=VALUE, such as time.end=100");
    return;
  }
  const std::string path = argument.substr(0, equals);
  constexpr std::string_view in_vary = "ensemble.vary.";
  const bool is_varied = path.starts_with(in_vary);
  const Key* key = find_key(path);
  if (!is_varied && (key == nullptr || path.find("[]") != std::string::npos)) {
    const auto dot = path.rfind('.');
    const std::string section = dot == std::string::npos ? "" : path.substr(0, dot);
    std::vector<std::string> near = nearest_keys(section, dot == std::string::npos ? path : path.substr(dot + 1));
    std::erase_if(near, [](const std::string& one) { return one.find("[]") != std::string::npos; });
    std::string what = "unknown key; allowed: the path of a key of the case file, such as time.end";
    if (path.find('[') != std::string::npos) what += "; a list is set as a whole";
    if (!near.empty()) what += fmt::format("; did you mean '{}'?", fmt::join(near, "' or '"));
    problems.add(place, path, what);
    return;
  }
  auto value = read_yaml(argument.substr(equals + 1), source, path, problems);
  if (!value) return;
  if (is_varied) {
    put_varied(root, path.substr(in_vary.size()), place, std::move(*value));
    return;
  }
  YamlNode* section = open_section(root, key->section(), place);
  if (section != nullptr) put(*section, *key, place, std::move(*value));
}

// Stores each KEY=VALUE in the tree, in order: VALUE replaces the key's value, even a whole section. Removes
// alternatives of the key (time.dt for time.cfl, the other Reynolds numbers) and keys that do not belong to a new
// `type`. Reports problems of the arguments themselves; check_keys judges the values.
void apply_overrides(YamlNode& root, const std::vector<std::string>& overrides, Problems& problems) {
  for (std::size_t n = 0; n < overrides.size(); ++n) {
    apply_override(root, overrides[n], static_cast<int>(n) + 1, problems);
  }
}

constexpr std::array positive{"on", "On", "ON", "true", "True", "TRUE", "yes", "Yes", "YES"};
constexpr std::array negative{"off", "Off", "OFF", "false", "False", "FALSE", "no", "No", "NO"};

bool has(const auto& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

// Replaces each word for a switch in a section, such as yes, by the one that its key has, such as on.
void settle_switches(YamlNode& section, const std::string& path);

void settle(YamlNode& node, const Key& key) {
  if (key.is_section()) {
    if (node.kind == YamlNode::Kind::map) settle_switches(node, key.content());
    for (YamlNode& item : node.items) settle_switches(item, key.content());
  }
  if (node.kind != YamlNode::Kind::scalar) return;
  for (const std::vector<std::string>* allowed : {&key.words, &key.value.choices}) {
    if (const std::string_view meant = meaning_of_switch(node.text, *allowed); !meant.empty()) node.text = meant;
  }
}

void settle_switches(YamlNode& section, const std::string& path) {
  for (YamlEntry& entry : section.entries) {
    if (const Key* key = find_key(join_path(path, entry.name))) settle(entry.value, *key);
  }
}

}  // namespace

const std::vector<std::string>& switch_words() {
  static const std::vector<std::string> words{"on", "true", "yes", "off", "false", "no"};
  return words;
}

std::string_view meaning_of_switch(std::string_view word, const std::vector<std::string>& allowed) {
  if (!has(allowed, "off")) return {};
  if (has(negative, word)) return "off";
  if (!has(positive, word)) return {};
  if (has(allowed, "on")) return "on";
  return has(allowed, "auto") ? "auto" : "";
}

namespace {

Case parse(const std::string& text, const std::string& file_name, const std::vector<std::string>& overrides,
           const std::string& base_directory, const ParseOptions& options, Defaults defaults) {
  Problems problems(file_name, overrides);
  std::optional<YamlNode> root = read_yaml(text, Place::file, "", problems);
  if (!root) {
    // Still read the arguments, so that their errors are reported too.
    YamlNode nothing = empty_map();
    apply_overrides(nothing, overrides, problems);
    problems.raise();
  }
  apply_overrides(*root, overrides, problems);
  if (options.variable) expand_paths(*root, options.variable, problems);
  // Earlier versions let them through, and stored them.
  if (defaults == Defaults::of_this_version) note_control_characters(*root, "", problems);
  load_tables(*root, base_directory, options.read_file, problems);
  settle_switches(*root, "");
  check_keys(*root, problems);
  Case settings = build_case(*root, base_directory, defaults);
  check_rules(settings, *root, options.exchange_methods, problems);
  problems.raise();
  if (options.further_rules) {
    for (const auto& [path, what] : options.further_rules(settings)) problems.add(place_of(*root, path), path, what);
    problems.raise();
  }
  return settings;
}

}  // namespace

Case parse_case(const std::string& text, const std::string& file_name, const std::vector<std::string>& overrides,
                const std::string& base_directory, const ParseOptions& options) {
  return parse(text, file_name, overrides, base_directory, options, Defaults::of_this_version);
}

std::optional<std::string> asked_precision(const std::string& text, const std::vector<std::string>& overrides) {
  Problems problems("", overrides);
  std::optional<YamlNode> root = read_yaml(text, Place::file, "", problems);
  if (!root || root->kind != YamlNode::Kind::map) root = empty_map();  // an empty text is a null
  apply_overrides(*root, overrides, problems);
  const YamlNode* solver = root->find("solver");
  const YamlNode* precision = solver == nullptr ? nullptr : solver->find("precision");
  return precision == nullptr ? std::nullopt : std::optional(precision->text);
}

Case parse_stored_case(const std::string& text, const std::string& name) {
  return parse(text, name, {}, "/", {known_exchange_methods()}, Defaults::of_earlier_versions);
}

}  // namespace sluice::io
