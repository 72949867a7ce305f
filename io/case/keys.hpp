#pragma once
// The only table of case-file keys: every key with its member of Case, range, default, unit and documentation sentence.
// It is used to check and read the file, to write the resolved case and compare it with a checkpoint's, and to generate
// the commented template and the reference page.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/case/case.hpp"
#include "io/case/numbers.hpp"
#include "io/case/time_tables.hpp"
#include "io/case/yaml_tree.hpp"
#include "model/physics.hpp"

namespace sluice::io {

enum class ValueType {
  section,   ///< a map of further keys
  text,      ///< any text
  path,      ///< a file or folder
  choice,    ///< one of a few words
  real,      ///< a number
  integer,   ///< a whole number
  length,    ///< a number or a simple multiple of pi
  duration,  ///< H:M:S or a number of seconds
  fraction,  ///< a number or a percentage
  formula,   ///< a number, or a formula of the key's variables
  lists,     ///< a map from the paths of keys to lists of their values
};

/// Parses a number as a key of this type allows; none for other types and for other text.
std::optional<double> parse_number(ValueType type, std::string_view text);

struct KeyValue {
  static constexpr int any_number = 0;

  bool is_section() const { return type == ValueType::section; }
  bool is_list() const { return count == any_number; }

  ValueType type = ValueType::section;
  int count = 1;                       ///< 1: a single value; n > 1: a list of n; any_number: a list
  std::vector<std::string> choices{};  ///< the allowed values of a ValueType::choice
  bool or_scalars = false;             ///< of a choice: the names of the case's scalars are allowed, too
  std::string variables{};             ///< of a ValueType::formula: those of x, y, z, t that it may contain
  bool or_table = false;               ///< of a ValueType::formula: a table in time is allowed, too

  /// Stores a value of the file in the case; a value that failed the checks may store anything. A null node holds
  /// a word in place of a value (none, auto) and stores zero or nothing. `item`: index in the list that holds the key.
  std::function<void(Case&, std::size_t item, const YamlNode&)> read{};
  /// The value as unquoted text; none if the case has no value. For a section: the word in place of its keys.
  std::function<std::optional<std::string>(const Case&, std::size_t item)> write{};
  /// Number of items in a list of sections.
  std::function<std::size_t(const Case&)> size{};
};

/// Bindings of keys to members of Case. A member is given by the pointers that lead to it from Case.
namespace binding {

template <class T>
inline constexpr int count_of = 1;
template <class T, std::size_t N>
inline constexpr int count_of<std::array<T, N>> = static_cast<int>(N);
template <class T>
inline constexpr int count_of<std::vector<T>> = KeyValue::any_number;
template <class T>
inline constexpr int count_of<std::optional<T>> = count_of<T>;

template <class T>
void read_value(ValueType type, const YamlNode& node, T& value) {
  if constexpr (std::is_enum_v<T>) {
    value = from_name<T>(node.text).value_or(T{});
  } else if constexpr (std::is_integral_v<T>) {
    value = static_cast<T>(parse_integer(node.text).value_or(0));
  } else {
    value = parse_number(type, node.text).value_or(0);
  }
}
inline void read_value(ValueType /*type*/, const YamlNode& node, std::string& value) {
  value = node.text;
}
inline void read_value(ValueType /*type*/, const YamlNode& node, Formula& value) {
  try {
    value = Formula::parse(node.text, "xyzt");
  } catch (const FormulaError&) {
    value = {};  // key_check.cpp has reported the error
  }
}
inline void read_value(ValueType type, const YamlNode& node, TimeFunction& value) {
  Formula formula;
  if (node.kind == YamlNode::Kind::map) {
    value = time_table(node);
  } else {
    read_value(type, node, formula);
    value = formula;
  }
}
inline void read_value(ValueType /*type*/, const YamlNode& node, char& value) {
  if (!node.text.empty()) value = node.text[0];
}
template <std::ranges::range List>
void read_value(ValueType type, const YamlNode& node, List& values) {
  if constexpr (count_of<List> == KeyValue::any_number) {
    values.resize(node.items.size());
    if (node.kind == YamlNode::Kind::scalar) read_value(type, node, values.emplace_back());  // a list of one
  }
  for (std::size_t n = 0; n < std::min(values.size(), node.items.size()); ++n) {
    read_value(type, node.items[n], values[n]);
  }
}
template <class T>
void read_value(ValueType type, const YamlNode& node, std::optional<T>& value) {
  value.reset();
  if (node.kind != YamlNode::Kind::null) read_value(type, node, value.emplace());
}

template <class T>
std::string text_of(const T& value) {
  if constexpr (std::is_enum_v<T>) return std::string(name(value));
  if constexpr (std::is_floating_point_v<T>) return yaml_real(value);
  if constexpr (std::is_integral_v<T>) return std::to_string(value);
}
inline std::string text_of(const std::string& value) {
  return value;
}
inline std::string text_of(char value) {
  return {value};
}
/// A formula in quotes, since it may have commas.
inline std::string text_of(const Formula& value) {
  return value.is_constant() ? yaml_real(value.constant()) : '"' + value.text() + '"';
}
template <std::ranges::range List>
std::string text_of(const List& values) {
  std::string text;
  for (const auto& value : values) text += (text.empty() ? "" : ", ") + text_of(value);
  return "[" + text + "]";
}
inline std::string text_of(const TimeFunction& value) {
  return value.is_table() ? text_of_table(value.table()) : text_of(value.formula());
}
template <class T>
std::optional<std::string> text_of(const std::optional<T>& value) {
  return value ? std::optional<std::string>(text_of(*value)) : std::nullopt;
}

/// A value bound to the reference that `member(case, item)` returns.
template <class Access>
KeyValue bind(ValueType type, std::vector<std::string> choices, const Access& member) {
  using Member = std::remove_cvref_t<decltype(member(std::declval<Case&>(), 0))>;
  if constexpr (std::is_enum_v<Member>) choices = all_names<Member>();
  return {.type = type,
          .count = count_of<Member>,
          .choices = std::move(choices),
          .read = [=](Case& settings, std::size_t item,
                      const YamlNode& node) { read_value(type, node, member(settings, item)); },
          .write = [=](const Case& settings, std::size_t item) -> std::optional<std::string> {
            const auto& value = member(settings, item);
            if constexpr (std::ranges::range<Member> && count_of<Member> == KeyValue::any_number)
              if (value.empty()) return std::nullopt;
            return text_of(value);
          }};
}

/// The member to which pointers lead: (settings.*first).*second.
template <class Root, class... Path>
auto& member_at(Root& settings, Path... path) {
  return (settings.*....*path);
}

/// One of `choices`, bound to a text.
template <class... Path>
KeyValue one_of(std::vector<std::string> choices, Path... path) {
  return bind(
      ValueType::choice,
      std::move(choices), [=](auto& settings, std::size_t) -> auto& { return member_at(settings, path...); });
}

template <class... Path>
KeyValue member(ValueType type, Path... path) {
  return bind(
      type, {}, [=](auto& settings, std::size_t) -> auto& { return member_at(settings, path...); });
}

/// A value bound to a member of the items of a list, such as the slices.
template <class Item, class T>
KeyValue of_item(ValueType type, std::vector<Item> OutputSpec::*list, T Item::*path,
                 std::vector<std::string> choices = {}) {
  return bind(
      type, std::move(choices), [=](auto& settings, std::size_t item) -> auto& {
        return (settings.output.*list)[item].*path;
      });
}

/// A list of maps of keys.
template <class... Path>
KeyValue list_of(Path... path) {
  return {.count = KeyValue::any_number,
          .read = [=](Case& settings, std::size_t,
                      const YamlNode& node) { member_at(settings, path...).assign(node.items.size(), {}); },
          .size = [=](const Case& settings) { return member_at(settings, path...).size(); }};
}

/// One of several alternative numbers, formulas or functions of t, bound to the member {kind, value} that `member(case,
/// item)` returns.
template <class Kind, class Access>
KeyValue alternative_at(Kind kind, Access member) {
  using Member = std::remove_cvref_t<decltype(member(std::declval<Case&>(), 0))>;
  constexpr bool or_table = std::is_same_v<decltype(Member::value), TimeFunction>;
  constexpr bool is_formula = or_table || std::is_same_v<decltype(Member::value), Formula>;
  constexpr ValueType type = is_formula ? ValueType::formula : ValueType::real;
  return {.type = type,
          .variables = is_formula ? "t" : "",
          .or_table = or_table,
          .read =
              [=](Case& settings, std::size_t item, const YamlNode& node) {
                auto& held = member(settings, item);
                held.kind = kind;
                read_value(type, node, held.value);
              },
          .write = [=](const Case& settings, std::size_t item) -> std::optional<std::string> {
            const auto& held = member(settings, item);
            return held.kind == kind ? std::optional<std::string>(text_of(held.value)) : std::nullopt;
          }};
}

/// The same for a member {kind, value} to which pointers lead.
template <class Kind, class... Path>
KeyValue alternative(Kind kind, Path... path) {
  return alternative_at(
      kind, [=](auto& settings, std::size_t) -> auto& { return member_at(settings, path...); });
}

/// A section that the word none can replace; the member is then false, empty or at its default.
template <class... Path>
KeyValue section_or_none(Path... path) {
  return {.read =
              [=](Case& settings, std::size_t, const YamlNode& node) {
                auto& held = member_at(settings, path...);
                const bool none = node.kind == YamlNode::Kind::scalar;
                if (none) held = {};
                if constexpr (std::is_same_v<decltype(held), bool&>) held = !none;
              },
          .write = [=](const Case& settings, std::size_t) -> std::optional<std::string> {
            const auto& held = member_at(settings, path...);
            return held == std::remove_cvref_t<decltype(held)>{} ? std::optional<std::string>("none") : std::nullopt;
          }};
}

/// A wall: a section or a word for its kind, and its velocity, which makes it no-slip.
KeyValue wall(WallCondition FlowParameters::*side);
KeyValue wall_velocity(WallCondition FlowParameters::*side);

/// The value of a key of a term, of a scalar's source or of an actuation.
KeyValue parameter(const ParameterValue& value);

/// A duration, or one of the words auto (no value) and off (infinite).
KeyValue time_limit(std::optional<double> Case::*limit);

/// The exchange methods: a section, or the word for all of them.
KeyValue exchange_methods();

/// The limit of a key figure, by its number in key_figure_table.
KeyValue accuracy_limit(std::size_t figure);

}  // namespace binding

using Key = KeyRow<KeyValue>;

/// Adds the keys, rules and synonyms of these terms. Once, before anything else of io/case is used; `physics` must
/// last.
void introduce(PhysicsList physics);

/// The terms that were introduced.
PhysicsList introduced_physics();

/// Whether a term gives the velocity far above the wall, which drives the flow.
bool is_driven_from_above(const FlowParameters& flow);

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

/// The keys that an unknown one may have meant: those that it usually means in papers and other programs; else the
/// nearest in the same section; else those of other sections with the same or a similar name.
std::vector<std::string> nearest_keys(std::string_view section, std::string_view name);

/// All exchange methods known to Sluice, `auto` included.
const std::vector<std::string>& known_exchange_methods();

/// The exchange methods available in this build, `auto` included.
const std::vector<std::string>& available_exchange_methods();

/// The commented case file that `sluice init` prints.
std::string case_template();

/// The reference page of the case file, in Markdown: docs/case-reference.md.
std::string generate_key_reference();

/// A JSON schema (draft 7) of the case file: keys, types, ranges, alternatives and descriptions, for editors. Rules
/// between sections are not in it.
std::string generate_key_schema();

}  // namespace sluice::io
