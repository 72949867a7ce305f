// Generated from the key table: the commented template of a case file and its reference page.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "io/case/keys.hpp"

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

}  // namespace sluice::io
