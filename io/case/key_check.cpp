#include "io/case/case_stages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "io/case/ensemble.hpp"
#include "io/case/numbers.hpp"
#include "io/case/time_tables.hpp"

namespace sluice::io {

namespace {

using Kind = YamlNode::Kind;

std::string described(const YamlNode& node) {
  switch (node.kind) {
    case Kind::null:
      return "nothing";
    case Kind::map:
      return "a map";
    case Kind::sequence:
      return "a list";
    case Kind::scalar:
      return node.quoted ? fmt::format("the text \"{}\"", shortened(node.text))
                         : fmt::format("'{}'", shortened(node.text));
  }
  return {};
}

bool in_range(double value, const Range& range, std::size_t component) {
  if (value > range.maximum) return false;
  if (range.minimum.empty()) return true;
  const double minimum = range.minimum.size() > 1 ? range.minimum.at(component) : range.minimum[0];
  return range.above ? value > minimum : value >= minimum;
}

std::optional<double> number(const Key& key, const YamlNode& node) {
  // A quoted number is text in YAML; lengths, durations and percentages are text anyway.
  const ValueType type = key.value.type;
  const bool quotable = type == ValueType::length || type == ValueType::duration || type == ValueType::fraction;
  if (node.quoted && !quotable) return std::nullopt;
  return parse_number(type, node.text);
}

// What to write instead of a product such as 2*2800, where the key takes none (only lengths may be products); empty if
// the value is no such product.
std::string computed(const Key& key, const YamlNode& node) {
  const bool computes = key.value.type != ValueType::real && key.value.type != ValueType::integer;
  const bool plain = computes || node.quoted || node.text.find_first_of("*/p") == std::string::npos;
  const auto value = plain ? std::nullopt : parse_length(node.text);
  return value ? fmt::format(" (only lengths are computed: write {})", yaml_real(*value)) : "";
}

// Describes the fault of a formula, and finds its place; empty if there is none.
std::string fault_of_formula(const Key& key, const YamlNode& node, std::size_t component, Place& place) {
  try {
    const Formula formula = Formula::parse(node.text, key.value.variables);
    const bool good = !formula.is_constant() || in_range(formula.constant(), key.range, component);
    return good ? "" : described(node) + " is out of range";
  } catch (const FormulaError& error) {
    place.column += static_cast<int>(error.position) + (node.quoted ? 1 : 0);
    const bool cut = !node.quoted && error.position == node.text.size() && std::string_view(error.what())[1] == ',';
    return fmt::format("{} is not a formula: at character {}, {}{}", described(node), error.position + 1, error.what(),
                       cut ? "; put a formula that has a comma in quotes" : "");
  }
}

// Describes the fault of one value; empty if there is none.
std::string fault_of(const Key& key, const YamlNode& node, std::size_t component) {
  if (node.kind == Kind::map && key.value.or_table) return fault_of_table(node);
  if (node.kind != Kind::scalar) return described(node) + " is not a value for it";
  if (Place place; key.value.type == ValueType::formula) return fault_of_formula(key, node, component, place);
  switch (key.value.type) {
    case ValueType::section:
      return described(node) + (key.words.empty() ? " is not a map" : " is not known");
    case ValueType::text:
      return {};
    case ValueType::path:
      return node.text.empty() ? "an empty path" : "";
    case ValueType::choice:
      if (contains(key.value.choices, node.text) || key.value.or_scalars) return {};  // check_rules knows the scalars
      return described(node) + " is not known";
    default:
      break;
  }
  const auto value = number(key, node);
  if (!value) {
    const std::string kind = key.value.type == ValueType::integer    ? "an integer"
                             : key.value.type == ValueType::duration ? "a duration"
                             : key.value.type == ValueType::fraction ? "a number or a percentage"
                                                                     : "a finite decimal number";
    return fmt::format("{} is not {}{}", described(node), kind, computed(key, node));
  }
  const bool good = key.value.type == ValueType::duration ? *value > 0 : in_range(*value, key.range, component);
  return good ? "" : described(node) + " is out of range";
}

// The numbers of 32x32x32, "32, 32, 32" or 32 32 32, as a list in brackets; empty if the text is not such.
std::string as_list(const Key& key, const std::string& text) {
  std::vector<std::string> parts{""};
  const std::string_view between = key.value.type == ValueType::length ? "xX,; " : "xX*,; ";
  for (const char c : text) {
    if (between.find(c) == std::string_view::npos)
      parts.back() += c;
    else if (!parts.back().empty())
      parts.emplace_back();
  }
  if (parts.back().empty()) parts.pop_back();
  const auto is_number = [&](const std::string& part) { return parse_number(key.value.type, part).has_value(); };
  if (parts.size() < 2 || !std::ranges::all_of(parts, is_number)) return {};
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

// How to write a name and a value that are joined by a colon without a space, such as type:channel; else empty.
std::string with_space(const std::string& text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) return {};
  return fmt::format("{}: {}", text.substr(0, colon), text.substr(colon + 1));
}

// How to write a value that stands where the keys of a section should: {bulk: 5600} or {tau: 5600}; else empty.
std::string as_section(const Key& section, const YamlNode& value) {
  if (const std::string spaced = with_space(value.text); !spaced.empty())
    return fmt::format("write '{}', with a space behind the colon", shortened(spaced));
  std::vector<std::string> ways;
  for (const Key* key : keys_of(section.content())) {
    const ValueType type = key->value.type;
    const bool any_text = type == ValueType::section || type == ValueType::text || type == ValueType::path;
    if (any_text || key->value.count != 1 || !fault_of(*key, value, 0).empty()) continue;
    ways.push_back(fmt::format("{{{}: {}}}", key->name(), shortened(value.text)));
  }
  return ways.empty() ? "" : fmt::format("write {}", fmt::join(ways, " or "));
}

// Whether the value stands for a list of one number.
bool is_list_of_one(const Key& key, const YamlNode& value) {
  const bool numbers = !key.is_section() && key.value.type != ValueType::choice;
  return numbers && key.value.count == KeyValue::any_number && value.kind == Kind::scalar;
}

// The entry before this one whose key is an alternative to its key; null if there is none.
const YamlEntry* earlier_alternative(const YamlEntry& entry, const YamlNode& paths) {
  const Key* key = find_key(entry.name);
  for (const YamlEntry& other : paths.entries) {
    if (&other == &entry) return nullptr;
    const Key* before = find_key(other.name);
    if (key != nullptr && before != nullptr && is_alternative(*key, *before)) return &other;
  }
  return nullptr;
}

class Checker {
 public:
  explicit Checker(Problems& problems) : problems_(problems) {}

  // table: path of the section in the key table; shown: the same with list indices, as the user sees it.
  void check_section(const YamlNode& section, const Place& place, const std::string& table, const std::string& shown) {
    for (const auto& entry : section.entries) {
      const Key* key = find_key(join_path(table, entry.name));
      if (key == nullptr) {
        note_unknown(entry, table, shown);
      } else {
        check_value(*key, entry, join_path(shown, entry.name));
        check_excludes(*key, entry, section, shown);
        check_type(*key, entry, section, shown);
      }
    }
    for (const Key* key : keys_of(table)) check_presence(*key, section, place, shown);
  }

 private:
  void note(const Key& key, const Place& place, const std::string& shown, const std::string& what) {
    problems_.add(place, shown, fmt::format("{}; allowed: {}", what, allowed_text(key)));
  }

  void note_unknown(const YamlEntry& entry, const std::string& table, const std::string& shown) {
    std::vector<std::string> names;
    for (const Key* key : keys_of(table)) names.push_back(key->name());
    std::string what = fmt::format("unknown key; allowed here: {}", fmt::join(names, ", "));
    const std::string spaced = entry.value.kind == Kind::null ? with_space(entry.name) : "";
    const std::vector<std::string> near = nearest_keys(table, entry.name.substr(0, entry.name.find(':')));
    if (!spaced.empty()) {
      what = fmt::format("unknown key: write '{}', with a space behind the colon", shortened(spaced));
    } else if (!near.empty()) {
      what += fmt::format("; did you mean '{}'?", fmt::join(near, "' or '"));
    }
    for (const std::string& key : near) problems_.doubt(key);
    problems_.add(entry.place, join_path(shown, entry.name), what);
  }

  void check_value(const Key& key, const YamlEntry& entry, const std::string& shown) {
    const YamlNode& value = entry.value;
    if (is_word_of(key, value)) return;
    if (key.value.type == ValueType::lists) {
      check_varied(key, value, shown);
    } else if (key.is_section() && key.value.count == 1 && value.kind == Kind::map) {
      check_section(value, entry.place, key.path, shown);
    } else if (value.kind == Kind::null) {
      // A section with all keys commented out is empty: a map without keys.
      if (key.is_section() && key.value.count == 1) {
        check_section(empty_map(), entry.place, key.path, shown);
      } else {
        note(key, entry.place, shown, "no value given");
      }
    } else if (key.value.count != 1 && !is_list_of_one(key, value)) {
      check_list(key, value, shown);
    } else {
      check_scalar(key, value, shown, 0);
    }
  }

  void check_list(const Key& key, const YamlNode& value, const std::string& shown) {
    if (value.kind == Kind::scalar && !key.words.empty()) {
      const std::string near = nearest_value(key, value.text);
      problems_.add(value.place, shown,
                    fmt::format("{} is not known; allowed: {}{}", described(value), allowed_text(key),
                                near.empty() ? "" : fmt::format("; did you mean {}?", near)));
      return;
    }
    if (value.kind != Kind::sequence) {
      const bool numbers = value.kind == Kind::scalar && !key.is_section() && key.value.type != ValueType::choice;
      const std::string list = numbers ? as_list(key, value.text) : "";
      note(key, value.place, shown,
           fmt::format("{} is not a list{}", described(value), list.empty() ? "" : ": write " + list));
      return;
    }
    const std::size_t size = value.items.size();
    if (key.value.count != KeyValue::any_number && size != static_cast<std::size_t>(key.value.count)) {
      note(key, value.place, shown, fmt::format("a list of {} where {} are needed", size, key.value.count));
      return;
    }
    if (!key.is_section() && size == 0) note(key, value.place, shown, "an empty list");
    for (std::size_t n = 0; n < size; ++n) {
      const YamlNode& item = value.items[n];
      const std::string path = fmt::format("{}[{}]", shown, n);
      if (!key.is_section()) {
        check_scalar(key, item, path, n);
      } else if (item.kind == Kind::map) {
        check_section(item, item.place, key.content(), path);
      } else {
        note(key, item.place, path, described(item) + " is not a map");
      }
      const auto same = [&](const YamlNode& other) { return item.is_word(other.text); };
      if (key.value.type == ValueType::choice && std::any_of(value.items.begin(), value.items.begin() + n, same)) {
        note(key, item.place, path, described(item) + " is given twice");
      }
    }
  }

  void check_varied(const Key& key, const YamlNode& value, const std::string& shown) {
    // Nothing: all keys are commented out.
    if (value.kind != Kind::map && value.kind != Kind::null)
      note(key, value.place, shown, described(value) + " is not a map");
    for (const YamlEntry& entry : value.entries) {
      const std::string path = join_path(shown, entry.name);
      const std::string fault = fault_of_varied(entry.name);
      const YamlEntry* other = earlier_alternative(entry, value);
      if (!fault.empty()) {
        problems_.add(entry.place, path, fault);
      } else if (other != nullptr) {
        problems_.add(entry.place, path,
                      fmt::format("contradicts {}; allowed: one of the two", join_path(shown, other->name)));
      } else if (entry.value.kind != Kind::sequence) {
        note(key, entry.place, path, described(entry.value) + " is not a list");
      } else {
        for (std::size_t n = 0; n < entry.value.items.size(); ++n)
          check_varied_value(*find_key(entry.name), entry.value.items[n], fmt::format("{}[{}]", path, n));
      }
    }
  }

  void check_varied_value(const Key& key, const YamlNode& value, const std::string& shown) {
    const bool is_list = key.value.count != 1;
    const auto is_scalar = [](const YamlNode& node) { return node.kind == Kind::scalar; };
    if (is_word_of(key, value)) {
      problems_.add(value.place, shown, described(value) + " cannot be varied; allowed: numbers and formulas");
    } else if (is_list && std::ranges::all_of(value.items, is_scalar)) {
      check_list(key, value, shown);
    } else if (is_list || !is_scalar(value)) {
      problems_.add(value.place, shown,
                    fmt::format("{} is not a value of one member; allowed: numbers and formulas{}", described(value),
                                is_list ? fmt::format(", {} in a list", key.value.count) : ""));
    } else {
      check_scalar(key, value, shown, 0);
    }
  }

  void check_scalar(const Key& key, const YamlNode& value, const std::string& shown, std::size_t component) {
    const std::string fault = fault_of(key, value, component);
    if (fault.empty()) return;
    const std::string near = value.kind == Kind::scalar ? nearest_value(key, value.text) : "";
    std::string what = fmt::format("{}; allowed: {}", fault, allowed_text(key));
    if (!near.empty()) what += fmt::format("; did you mean {}?", near);
    if (key.is_section() && value.kind == Kind::scalar && near.empty()) {
      const std::string section = as_section(key, value);
      if (!section.empty()) what += "; " + section;
    }
    Place place = value.place;
    if (key.value.type == ValueType::formula && value.kind == Kind::scalar)
      fault_of_formula(key, value, component, place);
    problems_.add(place, shown, what);
  }

  // Reported once for each pair, at the later of the two.
  void check_excludes(const Key& key, const YamlEntry& entry, const YamlNode& section, const std::string& shown) {
    for (const auto& other : section.entries) {
      if (&other == &entry) return;
      if (!contains(key.excludes, other.name)) continue;
      const bool in_file = other.place.source == Place::file;
      const std::string where = in_file ? fmt::format(" in line {}", other.place.line) : "";
      problems_.add(entry.place, join_path(shown, entry.name),
                    fmt::format("contradicts {}{}; allowed: one of the two", join_path(shown, other.name), where));
      return;
    }
  }

  void check_type(const Key& key, const YamlEntry& entry, const YamlNode& section, const std::string& shown) {
    if (fit_to_type(key, section) != Fit::no) return;
    problems_.add(entry.place, join_path(shown, entry.name),
                  fmt::format("contradicts {}; allowed: only with type {}", join_path(shown, "type"),
                              fmt::join(key.only_with, " or ")));
  }

  void check_presence(const Key& key, const YamlNode& section, const Place& place, const std::string& shown) {
    if (!key.required || fit_to_type(key, section) != Fit::yes || section.find(key.name()) != nullptr) return;
    const std::string path = join_path(shown, key.name());
    if (problems_.doubted(path)) return;
    if (key.is_section()) {
      check_section(empty_map(), place, key.path, path);
      return;
    }
    std::vector<std::string> names{key.name()};
    names.insert(names.end(), key.excludes.begin(), key.excludes.end());
    for (const auto& name : names) {
      if (section.find(name) != nullptr || problems_.doubted(join_path(shown, name))) return;
    }
    if (names.size() == 1) {
      note(key, place, path, "missing, and it has no default");
    } else {
      problems_.add(place, shown, fmt::format("one of the keys {} is needed", fmt::join(names, ", ")));
    }
  }

  Problems& problems_;
};

}  // namespace

bool is_alternative(const Key& one, const Key& other) {
  return one.section() == other.section() && contains(one.excludes, other.name());
}

bool is_word_of(const Key& key, const YamlNode& value) {
  return value.kind == Kind::scalar && contains(key.words, value.text);
}

Fit fit_to_type(const Key& key, const YamlNode& section) {
  if (key.only_with.empty()) return Fit::yes;
  const Key* type_key = find_key(join_path(key.section(), "type"));
  const YamlNode* type = section.find("type");
  const std::string given = type != nullptr ? type->text : type_key->fallback;
  const auto& known = type_key->value.choices;
  if (!contains(known, given)) return Fit::unknown;
  return contains(key.only_with, given) ? Fit::yes : Fit::no;
}

void check_keys(const YamlNode& root, Problems& problems) {
  Checker checker(problems);
  if (root.kind == Kind::map) {
    checker.check_section(root, {}, "", "");
  } else if (root.kind == Kind::null) {
    problems.add({}, "", "the file is empty; 'sluice init' prints a case file to start from");
  } else {
    problems.add(
        root.place, "",
        described(root) + " where a map is needed, such as 'flow: ...'; 'sluice init' prints one to start from");
  }
}

}  // namespace sluice::io
