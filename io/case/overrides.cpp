#include "io/case/overrides.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "io/case/key_check.hpp"
#include "io/case/keys.hpp"

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
      // A word for the whole section stays the value of the keys that allow it.
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

void apply_override(YamlNode& root, const std::string& argument, int source, Problems& problems) {
  const Place place{source, 1, 1};
  const auto equals = argument.find('=');
  if (equals == std::string::npos) {
    problems.add(place, "", "no '='; allowed: KEY=VALUE, such as time.end=100");
    return;
  }
  const std::string path = argument.substr(0, equals);
  const Key* key = find_key(path);
  if (key == nullptr || path.find("[]") != std::string::npos) {
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
  YamlNode* section = open_section(root, key->section(), place);
  if (section != nullptr) put(*section, *key, place, std::move(*value));
}

}  // namespace

void apply_overrides(YamlNode& root, const std::vector<std::string>& overrides, Problems& problems) {
  for (std::size_t n = 0; n < overrides.size(); ++n) {
    apply_override(root, overrides[n], static_cast<int>(n) + 1, problems);
  }
}

}  // namespace sluice::io
