#include "io/case/map_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "io/case/keys.hpp"
#include "io/case/numbers.hpp"

namespace sluice::io {

namespace {

using Kind = YamlNode::Kind;

bool is_plain(const YamlNode& node) {
  return node.kind == Kind::scalar && !node.quoted;
}

}  // namespace

MapReader::MapReader(const YamlNode& map, std::string path, Problems& problems)
    : map_(map), path_(std::move(path)), problems_(problems) {
  if (map.kind != Kind::map) problems_.add(map.place, path_, "is not a map of keys and values");
}

std::string MapReader::path_of(const std::string& key) const {
  return join_path(path_, key);
}

const YamlNode* MapReader::find(const std::string& key, bool required) {
  known_.push_back(key);
  const YamlNode* node = map_.find(key);
  if (node == nullptr && required && map_.kind == Kind::map) problems_.add(map_.place, path_of(key), "is required");
  return node;
}

std::optional<double> MapReader::number(const std::string& key, bool required, double limit, bool above) {
  const YamlNode* node = find(key, required);
  if (node == nullptr) return std::nullopt;
  const auto value = is_plain(*node) ? parse_real(node->text) : std::nullopt;
  if (value && (above ? *value > limit : *value >= limit)) return value;
  problems_.add(node->place, path_of(key), fmt::format("must be a number {} {:g}", above ? ">" : ">=", limit));
  return std::nullopt;
}

std::optional<std::int64_t> MapReader::count(const std::string& key, bool required) {
  const YamlNode* node = find(key, required);
  return node == nullptr ? std::nullopt : count(*node, path_of(key));
}

std::optional<std::int64_t> MapReader::count(const YamlNode& node, const std::string& path) {
  const auto value = is_plain(node) ? parse_integer(node.text) : std::nullopt;
  if (value && *value >= 1 && *value <= 1000000000) return value;
  problems_.add(node.place, path, "must be an integer >= 1");
  return std::nullopt;
}

std::string MapReader::text(const std::string& key, const std::vector<std::string>& allowed, bool required) {
  const YamlNode* node = find(key, required);
  return node == nullptr ? std::string() : read_text(*node, path_of(key), allowed);
}

std::string MapReader::read_text(const YamlNode& node, const std::string& path,
                                 const std::vector<std::string>& allowed) {
  if (node.kind == Kind::scalar && (allowed.empty() || contains(allowed, node.text))) return node.text;
  problems_.add(node.place, path,
                allowed.empty() ? "must be a text" : fmt::format("must be one of {}", fmt::join(allowed, ", ")));
  return {};
}

std::optional<bool> MapReader::boolean(const std::string& key, bool required) {
  const YamlNode* node = find(key, required);
  return node == nullptr ? std::nullopt : read_boolean(*node, path_of(key));
}

std::optional<bool> MapReader::read_boolean(const YamlNode& node, const std::string& path) {
  if (is_plain(node) && (node.text == "true" || node.text == "false")) return node.text == "true";
  problems_.add(node.place, path, "must be true or false");
  return std::nullopt;
}

template <class Read>
void MapReader::for_each_item(const std::string& key, const Read& read) {
  const YamlNode* node = find(key, false);
  if (node == nullptr) return;
  if (node->kind != Kind::sequence) {
    read(*node, path_of(key));
    return;
  }
  if (node->items.empty()) problems_.add(node->place, path_of(key), "is an empty list");
  for (std::size_t n = 0; n < node->items.size(); ++n) read(node->items[n], fmt::format("{}[{}]", path_of(key), n));
}

std::vector<std::string> MapReader::texts(const std::string& key, const std::vector<std::string>& allowed) {
  std::vector<std::string> list;
  for_each_item(key, [&](const YamlNode& node, const std::string& path) {
    if (std::string text = read_text(node, path, allowed); !text.empty()) list.push_back(std::move(text));
  });
  return list;
}

std::vector<std::int64_t> MapReader::counts(const std::string& key) {
  std::vector<std::int64_t> list;
  for_each_item(key, [&](const YamlNode& node, const std::string& path) {
    if (const auto value = count(node, path)) list.push_back(*value);
  });
  return list;
}

std::vector<bool> MapReader::booleans(const std::string& key) {
  std::vector<bool> list;
  for_each_item(key, [&](const YamlNode& node, const std::string& path) {
    if (const auto value = read_boolean(node, path)) list.push_back(*value);
  });
  return list;
}

std::vector<std::vector<std::int64_t>> MapReader::lists_of_counts(const std::string& key, std::size_t length,
                                                                  bool required) {
  std::vector<std::vector<std::int64_t>> lists;
  const auto add = [&](const YamlNode& node, const std::string& path) {
    if (node.kind != Kind::sequence || node.items.size() != length) {
      problems_.add(node.place, path, fmt::format("must be a list of {} integers", length));
      return;
    }
    std::vector<std::int64_t>& list = lists.emplace_back();
    for (const YamlNode& item : node.items) list.push_back(count(item, path).value_or(1));
  };
  const YamlNode* node = find(key, required);
  if (node == nullptr) return lists;
  const bool is_list_of_lists =
      node->kind == Kind::sequence &&
      std::ranges::any_of(node->items, [](const YamlNode& item) { return item.kind == Kind::sequence; });
  if (!is_list_of_lists) {
    add(*node, path_of(key));
    return lists;
  }
  for (std::size_t n = 0; n < node->items.size(); ++n) add(node->items[n], fmt::format("{}[{}]", path_of(key), n));
  return lists;
}

void MapReader::refuse_others() {
  for (const YamlEntry& entry : map_.entries) {
    if (contains(known_, entry.name)) continue;
    const std::string near = nearest_word(entry.name, known_);
    problems_.add(entry.place, path_of(entry.name),
                  "unknown key" + (near.empty() ? fmt::format("; known here: {}", fmt::join(known_, ", "))
                                                : fmt::format("; did you mean {}?", near)));
  }
}

}  // namespace sluice::io
