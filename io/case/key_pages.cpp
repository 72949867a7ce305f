// Generated from the key table: the commented template of a case file, its reference page, and its JSON schema.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "io/case/case_stages.hpp"
#include "io/case/keys.hpp"
#include "io/case/numbers.hpp"

namespace sluice::io {

namespace {

bool is_list_item(const Key& key) {
  return key.path.find("[]") != std::string::npos;
}

// The key and its alternatives.
std::vector<std::string> group_of(const Key& key) {
  std::vector<std::string> group{key.name()};
  group.insert(group.end(), key.excludes.begin(), key.excludes.end());
  return group;
}

bool group_required(const Key& key) {
  const auto group = group_of(key);
  return std::any_of(group.begin(), group.end(),
                     [&](const std::string& name) { return find_key(join_path(key.section(), name))->required; });
}

std::string default_text(const Key& key) {
  if (!key.fallback_note.empty()) return key.fallback_note;
  if (!key.fallback.empty()) return key.fallback;
  if (key.is_section()) return {};
  if (!group_required(key)) return "none";
  if (key.excludes.empty()) return "none, required";
  return fmt::format("none, exactly one of {} is required", fmt::join(group_of(key), ", "));
}

// Condition for using the key at all, which neither meaning nor default states.
std::string condition_text(const Key& key) {
  if (!key.only_with.empty()) return fmt::format(" Only with type {}.", fmt::join(key.only_with, " or "));
  if (key.excludes.empty() || group_required(key)) return {};
  return fmt::format(" Not with {}.", fmt::join(key.excludes, " or "));
}

// Text as comment lines of at most 100 characters.
std::string comment(const std::string& text, const std::string& indent) {
  constexpr std::size_t width = 100;
  std::string lines;
  std::string line = indent + "#";
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (line.size() + 1 + word.size() > width) {
      lines += line + "\n";
      line = indent + "#";
    }
    line += " " + word;
  }
  return lines + line + "\n";
}

std::string description(const Key& key) {
  std::string text = key.meaning + condition_text(key);
  const bool section = key.is_section();
  if (!section) text += fmt::format(" Allowed: {}.", allowed_text(key));
  if (section && !key.words.empty())
    text += fmt::format(" Allowed: {}, or the keys below.", fmt::join(key.words, ", "));
  const std::string fallback = default_text(key);
  if (!fallback.empty()) text += fmt::format(" Default: {}.", fallback);
  if (!key.unit.empty() && key.unit != "1") text += fmt::format(" Unit: {}.", key.unit);
  return text;
}

std::string template_of_section(const std::string& section, const std::string& indent, bool commented) {
  std::string text;
  bool first_of_item = section.ends_with("[]");
  for (const Key* key : keys_of(section)) {
    const bool hidden = commented || key->commented;
    // In a list the first key has the dash; the others are indented to its name.
    const std::string dash = is_list_item(*key) && first_of_item ? "- " : "";
    const std::string begin = indent + (is_list_item(*key) && !first_of_item ? "  " : "");
    text += comment(description(*key), begin);
    text += fmt::format("{}{}{}{}:", begin, hidden ? "#" : "", dash, key->name());
    first_of_item = false;
    if (key->is_section()) {
      text += "\n" + template_of_section(key->content(), indent + "  ", hidden);
    } else {
      text += " " + (key->example.empty() ? key->fallback : key->example) + "\n";
    }
    if (section.empty()) text += "\n";
  }
  return text;
}

std::string unit_text(const Key& key) {
  if (key.unit.empty()) return "";
  return key.unit == "1" ? "1" : "`" + key.unit + "`";
}

/// Text for a cell of a table, where | would begin the next one.
std::string table_cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) text.insert(at, 1, '\\');
  return text;
}

std::string reference_row(const Key& key) {
  const std::string fallback =
      key.fallback_note.empty() && !key.fallback.empty() ? "`" + key.fallback + "`" : default_text(key);
  const bool plain_section = key.is_section() && key.words.empty() && key.value.count == 1;
  return fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", key.path, table_cell(allowed_text(key)),
                     plain_section ? "" : table_cell(fallback), unit_text(key), is_physical(key) ? "yes" : "",
                     table_cell(key.meaning + condition_text(key)));
}

}  // namespace

std::string case_template() {
  const std::string head =
      "A Sluice case file. Lengths are in units of the half height h, velocities in units of the velocity that "
      "flow.reynolds sets. A setting behind '#' without a space is an alternative, or a default that rarely changes: "
      "remove the '#' to use it.";
  std::string text = comment(head, "") + "\n" + template_of_section("", "", false);
  text.pop_back();
  return text;
}

std::string generate_key_reference() {
  std::string page =
      "# Case file reference\n\n"
      "This page is generated from the key table in `io/case/`; do not edit it.\n\n"
      "Lengths are in units of the half height `h` (the height, for an open channel), velocities in units of the "
      "velocity `U` that `flow.reynolds` sets, times in `h/U`.\n\n"
      "- Numbers are decimal, with a point, whatever the locale: `3`, `0.5`, `1e-3`. An integer may be written as a "
      "number with an integral value, such as `1e6`. Infinity, NaN, hexadecimal and leading zeros are refused.\n"
      "- A multiple of pi is a chain of numbers and `pi` joined by `*` and `/`, evaluated from left to right: "
      "`4*pi/3`.\n"
      "- Paths resolve against the folder of the case file; in `--set`, against the working directory.\n"
      "- `--set KEY=VALUE` takes the keys below, a section included, whose whole content it replaces, and removes the "
      "alternatives of what it sets.\n"
      "- A section without keys is the same as an empty map.\n"
      "- A physical key changes the flow or the bits of the result: a restart refuses another value unless it is given "
      "`--allow-change`. All other keys may change on a restart.\n";
  for (const auto& key : case_keys()) {
    if (key.section().empty()) {
      page += fmt::format("\n## {}\n\n", key.path);
      if (key.is_section()) page += key.meaning + "\n\n";
      page += "| key | allowed | default | unit | physical | meaning |\n|---|---|---|---|---|---|\n";
      if (key.is_section()) continue;
    }
    page += reference_row(key);
  }
  return page;
}

namespace {

using Json = nlohmann::ordered_json;

Json schema_of_section(const std::string& section);

Json limit(double value) {
  if (value == std::trunc(value) && std::abs(value) < 1e15) return static_cast<std::int64_t>(value);
  return value;
}

void add_range(Json& number, const Range& range, std::size_t component) {
  if (!range.minimum.empty())
    number[range.above ? "exclusiveMinimum" : "minimum"] =
        limit(range.minimum.size() > 1 ? range.minimum.at(component) : range.minimum[0]);
  if (std::isfinite(range.maximum)) number["maximum"] = limit(range.maximum);
}

/// A number, or a text of this pattern that stands for one.
Json number_or(const Key& key, std::size_t component, const char* pattern) {
  Json number{{"type", "number"}};
  add_range(number, key.range, component);
  return {{"anyOf", {number, Json{{"type", "string"}, {"pattern", pattern}}}}};
}

/// YAML also reads 2 as a number, and some readers take the words for a switch for true and false.
Json choices_of(const std::vector<std::string>& words) {
  Json list = Json::array();
  for (const std::string& word : words) {
    list.push_back(word);
    if (const auto integer = parse_integer(word)) list.push_back(*integer);
  }
  for (const std::string& word : switch_words()) {
    if (meaning_of_switch(word, words).empty()) continue;
    if (std::ranges::find(words, word) == words.end()) list.push_back(word);
    if (word == "true" || word == "false") list.push_back(word == "true");
  }
  return {{"enum", list}};
}

Json schema_of_table() {
  const Json numbers{{"type", "array"}, {"items", {{"type", "number"}}}};
  return {{"type", "object"},
          {"properties",
           {{"table", {{"type", "string"}}},
            {"times", numbers},
            {"values", numbers},
            {"period", {{"type", {"number", "string"}}}}}},
          {"additionalProperties", false}};
}

Json schema_of_one(const Key& key, std::size_t component) {
  switch (key.value.type) {
    case ValueType::section:
      return schema_of_section(key.content());
    case ValueType::text:
    case ValueType::path:
      return {{"type", {"string", "number"}}};
    case ValueType::choice:
      if (key.value.or_scalars) return {{"type", "string"}};
      return choices_of(key.value.choices);
    case ValueType::length:
      return number_or(key, component, R"(^[-+0-9.epi */]*pi[-+0-9.epi */]*$|^[-+0-9.eE */]+$)");
    case ValueType::fraction:
      return number_or(key, component, R"(^[-+0-9.eE]+ *%?$)");
    case ValueType::lists: {
      const Json numbers{{"type", "array"}, {"items", {{"type", {"number", "string"}}}}};
      const Json value{{"type", {"number", "string", "array"}}, {"items", numbers["items"]}};
      return {{"type", "object"}, {"additionalProperties", {{"type", "array"}, {"items", value}}}};
    }
    case ValueType::formula: {
      Json formula{{"type", {"number", "string"}}};
      if (!key.value.or_table) return formula;
      return {{"anyOf", {formula, schema_of_table()}}};
    }
    case ValueType::duration:
      return {{"anyOf",
               {Json{{"type", "number"}, {"exclusiveMinimum", 0}},
                Json{{"type", "string"}, {"pattern", R"(^[0-9]+:[0-5]?[0-9]:[0-5]?[0-9]$|^([0-9.]+[dhms])+$)"}}}}};
    case ValueType::real:
    case ValueType::integer:
      break;
  }
  Json number{{"type", key.value.type == ValueType::integer ? "integer" : "number"}};
  add_range(number, key.range, component);
  return number;
}

Json schema_of_list(const Key& key) {
  if (key.value.count == KeyValue::any_number) return {{"type", "array"}, {"items", schema_of_one(key, 0)}};
  Json items = Json::array();
  for (int n = 0; n < key.value.count; ++n) items.push_back(schema_of_one(key, n));
  return {{"type", "array"}, {"items", items}, {"minItems", key.value.count}, {"maxItems", key.value.count}};
}

Json schema_of_key(const Key& key) {
  Json ways = Json::array();
  if (!key.words.empty()) ways.push_back(choices_of(key.words));
  const bool number_for_list =
      key.value.count == KeyValue::any_number && !key.is_section() && key.value.type != ValueType::choice;
  if (key.value.count == 1 || number_for_list) ways.push_back(schema_of_one(key, 0));
  if (key.value.count != 1) ways.push_back(schema_of_list(key));
  Json schema = ways.size() == 1 ? ways[0] : Json{{"anyOf", ways}};
  std::string text = key.meaning;
  if (!key.is_section()) text += " Allowed: " + allowed_text(key) + ".";
  if (!key.fallback.empty()) text += " Default: " + key.fallback + ".";
  if (!key.unit.empty() && key.unit != "1") text += " Unit: " + key.unit + ".";
  schema["description"] = text;
  return schema;
}

/// The rules between keys of a section, as check_keys has them.
Json rules_of(const std::string& section) {
  Json rules = Json::array();
  for (const Key* key : keys_of(section)) {
    for (const std::string& other : key->excludes) {
      if (key->name() < other) rules.push_back({{"not", {{"required", {key->name(), other}}}}});
    }
    const Json types{{"enum", key->only_with}};
    if (!key->only_with.empty())
      rules.push_back({{"not", {{"required", {"type", key->name()}}, {"properties", {{"type", {{"not", types}}}}}}}});
    if (!key->required) continue;
    Json ways = Json::array({Json{{"required", {key->name()}}}});
    for (const std::string& other : key->excludes) ways.push_back({{"required", {other}}});
    if (key->only_with.empty())
      rules.push_back({{"anyOf", ways}});
    else
      rules.push_back(
          {{"if", {{"required", {"type"}}, {"properties", {{"type", types}}}}}, {"then", {{"anyOf", ways}}}});
  }
  return rules;
}

Json schema_of_section(const std::string& section) {
  Json properties = Json::object();
  for (const Key* key : keys_of(section)) properties[key->name()] = schema_of_key(*key);
  Json schema{{"type", {"object", "null"}}, {"properties", properties}, {"additionalProperties", false}};
  if (Json rules = rules_of(section); !rules.empty()) schema["allOf"] = rules;
  return schema;
}

}  // namespace

std::string generate_key_schema() {
  Json schema{{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "Case file of Sluice"}};
  schema.update(schema_of_section(""));
  schema["type"] = "object";
  return schema.dump(1) + "\n";
}

}  // namespace sluice::io
