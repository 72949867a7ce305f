#pragma once
// The one table of the case file: every key with the member of Case that it fills, its range, default, unit and
// sentence of documentation. By it the file is checked and read, and the resolved case written and compared with that
// of a checkpoint; the commented template and the reference page are generated from it.
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "io/case/key_value.hpp"

namespace sluice::io {

/// What a number may be.
struct Range {
  std::vector<double> minimum{};  ///< one for all, or one for each component of a list; empty: no limit
  bool above = false;             ///< the minimum itself is not allowed
  double maximum = std::numeric_limits<double>::infinity();
};

struct Key {
  std::string path{};                ///< such as flow.reynolds.bulk; the keys of a list's items: output.slices[].at
  KeyValue value{};                  ///< its type and the member that it fills; a section needs none
  std::vector<std::string> words{};  ///< words allowed in place of a value: none, auto
  Range range{};
  bool required = false;                 ///< unless one of `excludes` is given, or `only_with` does not apply
  bool physical = true;                  ///< a restart may not change it; false for a section: for all of its keys
  std::string fallback{};                ///< YAML of the value used when the key is absent; empty: none
  std::string fallback_note{};           ///< for documentation, where the default depends on other keys
  std::string unit{};                    ///< U: the velocity unit that flow.reynolds sets; empty: no number
  std::string meaning{};                 ///< one sentence
  std::vector<std::string> excludes{};   ///< keys of the same section that contradict this one
  std::vector<std::string> only_with{};  ///< values of the section's `type` that this key belongs to
  std::string example{};                 ///< value in the template where it is not the fallback
  bool commented = false;                ///< shown in the template as a comment

  std::string name() const;     ///< last part of the path
  std::string section() const;  ///< path without its last part; of a list's items: with []
  bool is_section() const { return value.type == ValueType::section; }
  std::string content() const;  ///< the section() of its keys, of a section
};

/// The table, in the order of the documentation: a section before its keys.
const std::vector<Key>& case_keys();

/// The key of this path, or null.
const Key* find_key(std::string_view path);

/// The keys directly inside a section ("" for the case itself), in order.
std::vector<const Key*> keys_of(std::string_view section);

/// Whether a restart refuses another value of this key unless it is told otherwise: `physical` of the key and of the
/// sections that it is in.
bool is_physical(const Key& key);

/// "a.b" from "a" and "b", "b" from "" and "b".
std::string join_path(std::string_view section, std::string_view name);

/// What the key accepts, in words.
std::string allowed_text(const Key& key);

/// The candidate nearest to a misspelt word by edit distance (a swap of neighbours counts as one edit);
/// empty if none is near enough to be what was meant.
std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates);

/// The known key nearest to an unknown one: in the same section first, then a key of that name elsewhere.
std::string nearest_key(std::string_view section, std::string_view name);

/// All exchange methods that Sluice has a name for, `auto` included.
const std::vector<std::string>& known_exchange_methods();

/// The exchange methods that this build can run, `auto` included.
const std::vector<std::string>& available_exchange_methods();

/// The commented case file that `sluice init` prints.
std::string case_template();

/// The reference page of the case file, in Markdown: docs/case-reference.md.
std::string generate_key_reference();

}  // namespace sluice::io
