// Generated from the key table: a JSON schema of the case file, for editors.
#include "io/case/key_schema.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "io/case/keys.hpp"
#include "io/case/numbers.hpp"
#include "io/case/switches.hpp"

namespace sluice::io {

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
  for (int n = 0; n < key.value.count; ++n) items.push_back(schema_of_one(key, static_cast<std::size_t>(n)));
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
