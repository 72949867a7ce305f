#pragma once
// A YAML document as a plain tree. Unlike yaml-cpp's nodes, it keeps duplicate keys, the place of each key, and whether
// a scalar was quoted.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/case/problems.hpp"

namespace sluice::io {

inline constexpr std::size_t max_yaml_bytes = 1048576;

struct YamlEntry;

struct YamlNode {
  enum class Kind { null, scalar, sequence, map };

  Kind kind = Kind::null;
  Place place{};
  std::string text{};              ///< of a scalar
  bool quoted = false;             ///< a quoted scalar is text even if it looks like a number
  std::vector<YamlNode> items{};   ///< of a sequence
  std::vector<YamlEntry> entries;  ///< of a map, in the order of the file, duplicates included

  /// The value of a key of a map, or null if there is none.
  const YamlNode* find(std::string_view name) const;
  YamlNode* find(std::string_view name);
  const YamlEntry* find_entry(std::string_view name) const;

  bool is_word(std::string_view word) const { return kind == Kind::scalar && text == word; }
};

struct YamlEntry {
  std::string name{};
  Place place{};
  YamlNode value{};
};

/// Place of the key of this path, such as output.slices[1].at, in a case or, if it is absent, of the nearest enclosing
/// section.
Place place_of(const YamlNode& root, std::string_view path);

/// A map without keys.
YamlNode empty_map(const Place& place = {});

/// The number 1. It replaces a value of which a fault was reported, so that no other is.
YamlNode number_one(const Place& place);

/// Reads a text with one YAML document. Reports syntax errors, duplicate keys, control characters and tabs in the
/// indentation in `problems` under `path`; none if the text cannot be parsed, or is larger than any case: than
/// max_yaml_bytes, 10 000 keys and values, 20 levels, or 1 MiB of copies by aliases. An empty document gives a null
/// node. A text may still have control characters, by escapes such as "\0".
std::optional<YamlNode> read_yaml(const std::string& text, int source, const std::string& path, Problems& problems);

/// Reports names and texts with control characters: the files that take them over cannot hold some of them, and
/// terminals obey others. `path`: of the node.
void note_control_characters(const YamlNode& node, const std::string& path, Problems& problems);

struct BracketFault {
  int line = 1, column = 1;  ///< of the bracket, from 1
  std::string what;
};

/// The first bracket that another kind closes, or that closes nothing; else the last that is never closed. None if all
/// match. A bracket counts where YAML gives it a meaning: not in comments, quotes and plain text.
std::optional<BracketFault> bracket_fault(const std::string& text);

}  // namespace sluice::io
