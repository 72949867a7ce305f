#pragma once
// A row of the table of case-file keys: what a key means, what it may be, and what it sets.
#include <limits>
#include <string>
#include <vector>

namespace sluice {

/// Allowed values of a number.
struct Range {
  std::vector<double> minimum{};  ///< one for all, or one for each component of a list; empty: no limit
  bool above = false;             ///< the minimum itself is not allowed
  double maximum = std::numeric_limits<double>::infinity();
};

/// Value: what the key sets, and how.
template <class Value>
struct KeyRow {
  std::string path{};                ///< such as flow.reynolds.bulk; for keys of list items: output.slices[].at
  Value value{};                     ///< its type and what it is bound to; unused for a section
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

  /// Last part of the path.
  std::string name() const {
    const auto dot = path.rfind('.');
    return dot == std::string::npos ? path : path.substr(dot + 1);
  }
  /// Path without its last part; for keys of list items: with [].
  std::string section() const {
    const auto dot = path.rfind('.');
    return dot == std::string::npos ? "" : path.substr(0, dot);
  }
  bool is_section() const { return value.is_section(); }
  /// For a section: the section() of its keys.
  std::string content() const { return value.is_list() ? path + "[]" : path; }
};

}  // namespace sluice
