#include "io/case/switches.hpp"

#include <algorithm>
#include <array>

namespace sluice::io {

namespace {

constexpr std::array positive{"on", "On", "ON", "true", "True", "TRUE", "yes", "Yes", "YES"};
constexpr std::array negative{"off", "Off", "OFF", "false", "False", "FALSE", "no", "No", "NO"};

bool has(const auto& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

void settle_section(YamlNode& section, const std::string& path);

void settle(YamlNode& node, const Key& key) {
  if (key.is_section()) {
    if (node.kind == YamlNode::Kind::map) settle_section(node, key.content());
    for (YamlNode& item : node.items) settle_section(item, key.content());
  }
  if (node.kind != YamlNode::Kind::scalar) return;
  for (const std::vector<std::string>* allowed : {&key.words, &key.value.choices}) {
    if (const std::string_view meant = meaning_of_switch(node.text, *allowed); !meant.empty()) node.text = meant;
  }
}

void settle_section(YamlNode& section, const std::string& path) {
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

void settle_switches(YamlNode& root) {
  settle_section(root, "");
}

}  // namespace sluice::io
