#pragma once
// The only table of case-file keys: every key with its member of Case, range, default, unit and documentation sentence.
// It is used to check and read the file, to write the resolved case and compare it with a checkpoint's, and to generate
// the commented template and the reference page.
#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "io/case/key_value.hpp"

namespace sluice::io {

/// Allowed values of a number.
struct Range {
  std::vector<double> minimum{};  ///< one for all, or one for each component of a list; empty: no limit
  bool above = false;             ///< the minimum itself is not allowed
  double maximum = std::numeric_limits<double>::infinity();
};

struct Key {
  std::string path{};                ///< such as flow.reynolds.bulk; for keys of list items: output.slices[].at
  KeyValue value{};                  ///< its type and its member; unused for a section
  std::vector<std::string> words{};  ///< words allowed in place of a value: none, auto
  Range range{};
  bool required = false;                ///< unless one of `excludes` is given, or `only_with` does not apply
  bool physical = true;                 ///< a restart may not change it; if false for a section, false for all its keys
  bool sampled = true;                  ///< a physical key that statistics depend on; for sections like `physical`
  std::string fallback{};               ///< YAML of the value used when the key is absent; empty: none
  std::string earlier_fallback{};       ///< in place of fallback for stored cases that are older than the key
  std::string fallback_note{};          ///< documentation of a default that depends on other keys
  std::string unit{};                   ///< U: the velocity unit that flow.reynolds sets; empty: not a number
  std::string meaning{};                ///< one sentence
  std::vector<std::string> excludes{};  ///< keys of the same section that contradict this one
  std::vector<std::string> only_with{};  ///< the values of the section's `type` for which this key exists
  std::string example{};                 ///< value in the template, if not the fallback
  bool commented = false;                ///< shown in the template as a comment

  std::string name() const;     ///< last part of the path
  std::string section() const;  ///< path without its last part; for keys of list items: with []
  bool is_section() const { return value.type == ValueType::section; }
  std::string content() const;  ///< for a section: the section() of its keys
};

/// The table, in the order of the documentation: a section before its keys.
const std::vector<Key>& case_keys();

/// The key of this path, or null.
const Key* find_key(std::string_view path);

/// The keys directly inside a section ("" for the case itself), in order.
std::vector<const Key*> keys_of(std::string_view section);

/// Whether a restart refuses another value of this key by default: `physical` of the key and of all enclosing sections.
bool is_physical(const Key& key);

/// Whether statistics of flows that differ in this key must not be averaged together: `physical` and `sampled` of the
/// key and of all enclosing sections.
bool is_sampled(const Key& key);

template <class Value>
bool contains(const std::vector<Value>& list, const auto& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// "a.b" from "a" and "b", "b" from "" and "b".
std::string join_path(std::string_view section, std::string_view name);

/// The values that the key accepts, in words.
std::string allowed_text(const Key& key);

/// The candidate nearest to a misspelt word by edit distance (a swap of neighbours counts as one edit); empty if none
/// is near enough.
std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates);

/// The allowed value that an unknown one may have meant, in quotes, with what else it needs; empty if none is near.
std::string nearest_value(const Key& key, std::string_view word);

/// The keys that an unknown one may have meant: those that its usual meaning in papers and other programs names, else
/// the nearest in the same section, else one of that name, or of a name near it, elsewhere.
std::vector<std::string> nearest_keys(std::string_view section, std::string_view name);

/// All exchange methods known to Sluice, `auto` included.
const std::vector<std::string>& known_exchange_methods();

/// The exchange methods available in this build, `auto` included.
const std::vector<std::string>& available_exchange_methods();

/// The commented case file that `sluice init` prints.
std::string case_template();

/// The reference page of the case file, in Markdown: docs/case-reference.md.
std::string generate_key_reference();

}  // namespace sluice::io
