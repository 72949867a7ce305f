// A Case as text: the resolved case file, and the lines that list the differences between two cases.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "io/case/case_file.hpp"

namespace sluice::io {

namespace {

using Text = std::optional<std::string>;

// FNV-1a, of a text that is too long to be shown.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

// Writes the values of a case by the bindings of the key table.
class Writer {
 public:
  // `to_compare`: writes physical keys only, and only the last part of a path.
  explicit Writer(const Case& settings, bool to_compare = false) : settings_(settings), to_compare_(to_compare) {}

  // The value as YAML, on one line except for a list of sections. None if the case has no value for the key.
  Text value(const Key& key, std::size_t item = 0) const {
    if (!applies(key, item)) return std::nullopt;
    if (key.is_section()) return section(key, item);
    const Text text = key.value.write(settings_, item);
    if (text) return scalar(key, *text);
    return key.words.empty() ? Text() : key.words[0];
  }

  // Adds the keys of a section that statistics depend on, with their values.
  void add_sampled(const std::string& path, std::map<std::string, std::string>& values) const {
    for (const Key* key : keys_of(path)) {
      if (!is_sampled(*key)) continue;
      const bool map = key->is_section() && !key->value.size;
      if (const Text text = map ? word(*key, 0) : value(*key)) {
        values[key->path] = *text;
      } else if (map) {
        add_sampled(key->path, values);
      }
    }
  }

 private:
  // False if the key belongs to another type of its section, or an alternative of it has a value.
  bool applies(const Key& key, std::size_t item) const {
    const auto sibling = [&](const std::string& name) {
      return find_key(join_path(key.section(), name))->value.write(settings_, item);
    };
    const auto& types = key.only_with;
    if (!types.empty() && !contains(types, sibling("type"))) return false;
    return std::none_of(key.excludes.begin(), key.excludes.end(), sibling);
  }

  std::string scalar(const Key& key, const std::string& text) const {
    if (to_compare_ && key.value.or_table && text.starts_with('{')) return fmt::format("table {:016x}", hash_of(text));
    if (key.value.type == ValueType::text) return quoted_yaml(text);
    if (key.value.type != ValueType::path || key.value.is_list()) return text;
    return quoted_yaml(to_compare_ ? text.substr(text.rfind('/') + 1) : text);
  }

  // The word in place of a section's keys.
  Text word(const Key& section, std::size_t item) const {
    return section.value.write ? section.value.write(settings_, item) : std::nullopt;
  }

  Text section(const Key& key, std::size_t item) const {
    if (!key.value.size) {
      const Text none = word(key, item);
      return none ? none : map_of(key.content(), item);
    }
    std::string list;
    for (std::size_t n = 0; n < key.value.size(settings_); ++n) list += "\n    - " + map_of(key.content(), n);
    return list.empty() ? "[]" : list;
  }

  std::string map_of(const std::string& path, std::size_t item) const {
    std::vector<std::string> entries;
    for (const Key* key : keys_of(path)) {
      if (to_compare_ && !is_physical(*key)) continue;
      if (const Text text = value(*key, item)) entries.push_back(fmt::format("{}: {}", key->name(), *text));
    }
    return fmt::format("{{{}}}", fmt::join(entries, ", "));
  }

  const Case& settings_;
  bool to_compare_;
};

// The keys that are written and compared as units: those inside the sections of the case, but a list, or a section
// whose keys depend on its type, as a whole.
std::vector<const Key*> entries() {
  std::vector<const Key*> keys;
  for (const Key* key : keys_of("")) {
    const auto inside = keys_of(key->content());
    const bool one = std::any_of(inside.begin(), inside.end(), [](const Key* k) { return !k->only_with.empty(); });
    if (inside.empty() || one || key->value.size) {
      keys.push_back(key);
    } else {
      keys.insert(keys.end(), inside.begin(), inside.end());
    }
  }
  return keys;
}

}  // namespace

std::string quoted_yaml(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += fmt::format("\\x{:02x}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string resolved_yaml(const Case& settings) {
  const Writer writer(settings);
  std::string text = "# The case as resolved: every default filled in, every path absolute.\n";
  std::string open;
  for (const Key* key : entries()) {
    const Text value = writer.value(*key);
    if (!value) continue;
    const std::string section = key->section();
    if (section != open && !section.empty()) text += section + ":\n";
    open = section;
    text += fmt::format("{}{}:{}{}\n", section.empty() ? "" : "  ", key->name(), value->starts_with('\n') ? "" : " ",
                        *value);
  }
  return text;
}

std::map<std::string, std::string> sampled_keys(const Case& settings) {
  Case by_viscosity = settings;
  by_viscosity.reynolds = {ReynoldsKind::viscosity, settings.flow.viscosity};
  std::map<std::string, std::string> values;
  Writer(by_viscosity, true).add_sampled("", values);
  return values;
}

std::vector<std::string> physical_changes(const Case& stored, const Case& now) {
  std::vector<std::string> changes;
  for (const Key* key : entries()) {
    if (!is_physical(*key)) continue;
    // Equal viscosities are the same flow whichever definition is used; other differences show in the forcing.
    if (key->path == "flow.reynolds" && stored.flow.viscosity == now.flow.viscosity) continue;
    const std::string before = Writer(stored, true).value(*key).value_or("none");
    const std::string after = Writer(now, true).value(*key).value_or("none");
    if (before != after) changes.push_back(fmt::format("{}: {} -> {}", key->path, before, after));
  }
  return changes;
}

}  // namespace sluice::io
