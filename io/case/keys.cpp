#include "io/case/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/decomp/exchange/exchange.hpp"
#include "core/support/error.hpp"
#include "io/case/key_table.hpp"
#include "io/case/numbers.hpp"
#include "io/case/time_tables.hpp"

namespace sluice::io {

namespace {

struct Introduced {
  PhysicsList physics{};
  bool done = false;
};
Introduced& introduced() {
  static Introduced terms;
  return terms;
}

Key key_of(const ParameterKey& row) {
  return {row.path,
          binding::parameter(row.value),
          row.words,
          row.range,
          row.required,
          row.physical,
          row.sampled,
          row.fallback,
          row.earlier_fallback,
          row.fallback_note,
          row.unit,
          row.meaning,
          row.excludes,
          row.only_with,
          row.example,
          row.commented};
}

/// Adds the keys of terms, of sources of scalars and of actuations, each behind the last one of its section.
void add_keys_of_terms(std::vector<Key>& keys) {
  for (const Physics* term : introduced_physics()) {
    for (const ParameterKey& row : term->keys()) {
      Key key = key_of(row);
      const std::string section = key.section();
      const auto is_of_section = [&](const Key& other) {
        return other.path == section || other.path.starts_with(section + ".");
      };
      const auto last = std::find_if(keys.rbegin(), keys.rend(), is_of_section);
      SLUICE_REQUIRE(last != keys.rend(), "a term has a key of a section that does not exist: " + row.path);
      keys.insert(last.base(), std::move(key));
    }
  }
}

}  // namespace

void introduce(PhysicsList physics) {
  SLUICE_REQUIRE(!introduced().done, "terms are introduced once");
  introduced() = {physics, true};
}

PhysicsList introduced_physics() {
  SLUICE_REQUIRE(introduced().done, "the terms of the equations must be introduced before a case is read");
  return introduced().physics;
}

bool is_driven_from_above(const FlowParameters& flow) {
  return std::ranges::any_of(introduced_physics(), [&](const Physics* term) { return term->drives_from_above(flow); });
}

const std::vector<Key>& case_keys() {
  static const std::vector<Key> keys = [] {
    std::vector<Key> all;
    for (auto part : {key_table::flow_keys(), key_table::grid_keys(), key_table::wall_keys(), key_table::scalar_keys(),
                      key_table::time_keys(), key_table::initial_keys(), key_table::solver_keys(),
                      key_table::output_keys(), key_table::ensemble_keys()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    add_keys_of_terms(all);
    return all;
  }();
  return keys;
}

const Key* find_key(std::string_view path) {
  const auto& keys = case_keys();
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.path == path; });
  return found == keys.end() ? nullptr : &*found;
}

std::vector<const Key*> keys_of(std::string_view section) {
  std::vector<const Key*> children;
  for (const auto& key : case_keys()) {
    if (key.section() == section) children.push_back(&key);
  }
  return children;
}

namespace {

// Whether a flag is set for the key and for all enclosing sections.
bool holds(bool Key::*flag, const Key& key) {
  const std::string section = key.section();
  if (!(key.*flag) || section.empty()) return key.*flag;
  return holds(flag, *find_key(section.substr(0, section.find('['))));
}

}  // namespace

bool is_physical(const Key& key) {
  return holds(&Key::physical, key);
}

bool is_sampled(const Key& key) {
  return is_physical(key) && holds(&Key::sampled, key);
}

std::string join_path(std::string_view section, std::string_view name) {
  return section.empty() ? std::string(name) : fmt::format("{}.{}", section, name);
}

namespace {

// 1000000 instead of the shorter 1e+06.
std::string limit_text(double value) {
  const bool whole = value == std::trunc(value) && std::abs(value) < 1e15;
  return whole ? fmt::format("{}", static_cast<long long>(value)) : yaml_real(value);
}

std::string range_text(const Range& range, std::size_t component) {
  std::string text;
  if (!range.minimum.empty()) {
    const double minimum = range.minimum.size() > 1 ? range.minimum.at(component) : range.minimum[0];
    text = (range.above ? "> " : ">= ") + limit_text(minimum);
  }
  if (range.maximum < std::numeric_limits<double>::infinity()) {
    text += (text.empty() ? "<= " : " and <= ") + limit_text(range.maximum);
  }
  return text;
}

std::string number_text(const Key& key, const std::string& one, const std::string& many) {
  if (key.value.count == 1) {
    const std::string range = range_text(key.range, 0);
    return range.empty() ? one : fmt::format("{} {}", one, range);
  }
  if (key.value.count == KeyValue::any_number)
    return fmt::format("{} {}, or a list of such numbers", one, range_text(key.range, 0));
  std::vector<std::string> ranges;
  for (std::size_t n = 0; n < key.range.minimum.size(); ++n) ranges.push_back(range_text(key.range, n));
  const std::string values = fmt::format("a list of {} {}", key.value.count, many);
  if (ranges.size() == 1) return fmt::format("{}, each {}", values, ranges[0]);
  return ranges.empty() ? values : fmt::format("{}, {}", values, fmt::join(ranges, ", "));
}

// "x, y and t".
std::string variables_text(const Key& key) {
  std::string text;
  const std::string& names = key.value.variables;
  for (std::size_t n = 0; n < names.size(); ++n)
    text += std::string(n == 0 ? "" : n + 1 == names.size() ? " and " : ", ") + names[n];
  return text;
}

std::string value_text(const Key& key) {
  switch (key.value.type) {
    case ValueType::section: {
      std::vector<std::string> names;
      const bool list = key.value.count == KeyValue::any_number;
      for (const Key* child : keys_of(key.content())) names.push_back(child->name());
      return fmt::format("{} {}", list ? "a list of maps of" : "a map of", fmt::join(names, ", "));
    }
    case ValueType::text:
      return "text";
    case ValueType::path:
      return key.value.is_list() ? "a path, or a list of paths" : "a path";
    case ValueType::choice: {
      if (contains(key.value.choices, "off")) return "on, true or yes; off, false or no";
      const std::string choices =
          fmt::format("{}{}", fmt::join(key.value.choices, ", "), key.value.or_scalars ? ", names of scalars" : "");
      return key.value.count == 1 ? "one of " + choices : "a list of " + choices + ", each at most once";
    }
    case ValueType::real:
      return number_text(key, "a number", "numbers");
    case ValueType::integer:
      return number_text(key, "an integer", "integers");
    case ValueType::length:
      return number_text(key, "a number or multiple of pi", "numbers or multiples of pi such as 4*pi/3");
    case ValueType::fraction:
      return number_text(key, "a number or percentage", "numbers or percentages");
    case ValueType::formula:
      return number_text(key, "a number or a formula of " + variables_text(key),
                         "numbers or formulas of " + variables_text(key)) +
             (key.value.or_table ? fmt::format(", or {}", table_forms) : "");
    case ValueType::lists:
      return "a map from the paths of keys to lists of their values, one for each member";
    case ValueType::duration:
      return "H:M:S, a time such as 90m, 4h or 2d, or a number of seconds > 0";
  }
  return {};
}

}  // namespace

std::string allowed_text(const Key& key) {
  const std::string value = value_text(key);
  return key.words.empty() ? value : fmt::format("{}, or {}", fmt::join(key.words, ", "), value);
}

namespace {

std::vector<std::string> with_auto(const std::vector<std::string>& methods) {
  std::vector<std::string> list{"auto"};
  list.insert(list.end(), methods.begin(), methods.end());
  return list;
}

}  // namespace

const std::vector<std::string>& known_exchange_methods() {
  static const std::vector<std::string> methods = with_auto(all_exchange_methods());
  return methods;
}

const std::vector<std::string>& available_exchange_methods() {
  static const std::vector<std::string> methods = with_auto(exchange_methods());
  return methods;
}

std::optional<double> parse_number(ValueType type, std::string_view text) {
  if (type == ValueType::length) return parse_length(text);
  if (type == ValueType::duration) return parse_duration(text);
  if (type == ValueType::fraction) return parse_fraction(text);
  if (type == ValueType::real) return parse_real(text);
  const auto integer = type == ValueType::integer ? parse_integer(text) : std::nullopt;
  return integer ? std::optional<double>(static_cast<double>(*integer)) : std::nullopt;
}

namespace binding {

KeyValue wall(WallCondition FlowParameters::*side) {
  return {.read = [=](Case& settings, std::size_t, const YamlNode& node) {
    if (const auto kind = from_name<WallKind>(node.text)) (settings.flow.*side).kind = *kind;
  }};
}

KeyValue wall_velocity(WallCondition FlowParameters::*side) {
  KeyValue velocity = member(ValueType::formula, &Case::flow, side, &WallCondition::velocity);
  velocity.variables = "xyt";
  velocity.read = [=, read = velocity.read](Case& settings, std::size_t item, const YamlNode& node) {
    if (!(settings.flow.*side).drags()) (settings.flow.*side).kind = WallKind::no_slip;
    read(settings, item, node);
  };
  return velocity;
}

namespace {

template <class T>
constexpr ValueType type_of = std::is_same_v<T, std::string> ? ValueType::text : ValueType::real;

template <class T>
KeyValue bound_to(const ParameterMember<T>& member, bool is_length) {
  return bind(
      is_length ? ValueType::length : type_of<T>, {}, [=](auto& settings, std::size_t item) -> auto& {
        if constexpr (std::is_const_v<std::remove_reference_t<decltype(settings)>>)
          return member.get(settings.flow, item);
        else
          return member.edit(settings.flow, item);
      });
}

KeyValue bound_to(const ParameterAlternative& alternative) {
  return {.type = ValueType::real,
          .read = [=](Case& settings, std::size_t,
                      const YamlNode& node) { read_value(ValueType::real, node, alternative.choose(settings.flow)); },
          .write = [=](const Case& settings, std::size_t) -> std::optional<std::string> {
            const double* value = alternative.given(settings.flow);
            return value != nullptr ? std::optional<std::string>(text_of(*value)) : std::nullopt;
          }};
}

KeyValue bound_to(const ParameterChoice& choice) {
  return {.type = ValueType::choice,
          .choices = choice.words,
          .read =
              [=](Case& settings, std::size_t, const YamlNode& node) {
                const auto found = std::ranges::find(choice.words, node.text);
                if (found != choice.words.end()) choice.set(settings.flow, found - choice.words.begin());
              },
          .write = [=](const Case& settings, std::size_t) -> std::optional<std::string> {
            const std::size_t n = choice.get(settings.flow);
            return n < choice.words.size() ? std::optional<std::string>(choice.words[n]) : std::nullopt;
          }};
}

KeyValue bound_to(const ParameterSection& section) {
  return {.read =
              [=](Case& settings, std::size_t, const YamlNode& node) {
                if (node.kind == YamlNode::Kind::scalar) section.remove(settings.flow);
              },
          .write = [=](const Case& settings, std::size_t) -> std::optional<std::string> {
            return section.is_none(settings.flow) ? std::optional<std::string>("none") : std::nullopt;
          }};
}

}  // namespace

KeyValue parameter(const ParameterValue& value) {
  const auto bind_it = [&](const auto& bound) {
    if constexpr (requires { bound_to(bound, false); })
      return bound_to(bound, value.is_length);
    else
      return bound_to(bound);
  };
  KeyValue key = std::visit(bind_it, value.bound);
  const auto* vector = std::get_if<ParameterMember<std::array<double, 3>>>(&value.bound);
  if (value.names.empty() || vector == nullptr) return key;
  key.read = [names = value.names, vector = *vector, read = key.read](Case& settings, std::size_t item,
                                                                      const YamlNode& node) {
    read(settings, item, node);
    for (const auto& [text, named] : names) {
      if (node.kind == YamlNode::Kind::null && node.text == text) vector.edit(settings.flow, item) = named;
    }
  };
  key.write = [names = value.names, vector = *vector, write = key.write](const Case& settings, std::size_t item) {
    for (const auto& [text, named] : names) {
      if (vector.get(settings.flow, item) == named) return std::optional<std::string>(text);
    }
    return write(settings, item);
  };
  return key;
}

KeyValue time_limit(std::optional<double> Case::*limit) {
  KeyValue bound = member(ValueType::duration, limit);
  bound.read = [=, read = bound.read](Case& settings, std::size_t item, const YamlNode& node) {
    read(settings, item, node);
    if (node.kind == YamlNode::Kind::null && node.text == "off")
      settings.*limit = std::numeric_limits<double>::infinity();
  };
  bound.write = [=, write = bound.write](const Case& settings, std::size_t item) {
    return std::isinf((settings.*limit).value_or(0)) ? std::optional<std::string>("off") : write(settings, item);
  };
  return bound;
}

KeyValue exchange_methods() {
  return {.read =
              [](Case& settings, std::size_t, const YamlNode& node) {
                if (node.kind == YamlNode::Kind::scalar) settings.exchange = {node.text};
              },
          .write = [](const Case& settings, std::size_t) -> std::optional<std::string> {
            return settings.exchange.is_uniform() ? std::optional(settings.exchange.text()) : std::nullopt;
          }};
}

KeyValue accuracy_limit(std::size_t figure) {
  return bind(
      ValueType::fraction, {}, [=](auto& settings, std::size_t) -> auto& { return settings.time.until[figure]; });
}

}  // namespace binding

}  // namespace sluice::io
