#include "io/case/time_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <sstream>
#include <vector>

#include "core/support/error.hpp"
#include "core/support/plain_text.hpp"
#include "io/case/keys.hpp"
#include "io/case/numbers.hpp"
#include "io/case/paths.hpp"

namespace sluice::io {

namespace {

using Kind = YamlNode::Kind;

constexpr std::size_t max_table_bytes = 1048576;

/// The numbers of a list; none if one is not a number.
std::optional<std::vector<double>> numbers_of(const YamlNode* list) {
  if (list == nullptr || list->kind != Kind::sequence) return std::nullopt;
  std::vector<double> numbers;
  for (const YamlNode& item : list->items) {
    const auto number = item.kind == Kind::scalar && !item.quoted ? parse_real(item.text) : std::nullopt;
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

/// The period of a table, 0 without one; none if it is not a number > 0.
std::optional<double> period_of(const YamlNode& table) {
  const YamlNode* node = table.find("period");
  if (node == nullptr) return 0;
  const auto period = node->kind == Kind::scalar ? parse_length(node->text) : std::nullopt;
  return period && *period > 0 ? period : std::nullopt;
}

/// Describes the fault of points. `place(n)`: where point n was written.
std::string fault_of_points(const TimeTable& table, const auto& place) {
  const std::vector<double>& t = table.times;
  if (t.size() < 2) return fmt::format("{} points; at least 2 are needed", t.size());
  if (t.size() > max_table_points)
    return fmt::format("{} points; at most {} are read: leave out some between which the line is straight", t.size(),
                       max_table_points);
  for (std::size_t n = 1; n < t.size(); ++n) {
    if (t[n] <= t[n - 1])
      return fmt::format("{}: the time {} does not follow {}; times must increase", place(n), format_real(t[n]),
                         format_real(t[n - 1]));
  }
  if (table.period == 0) return {};
  const double extent = t.back() - t.front();
  if (extent > table.period)
    return fmt::format("{}: the points take {}, longer than the period {}", place(t.size() - 1), format_real(extent),
                       format_real(table.period));
  if (extent == table.period && table.values.front() != table.values.back())
    return fmt::format("{}: the value {} at the end of the period is not {}, the one at its beginning",
                       place(t.size() - 1), format_real(table.values.back()), format_real(table.values.front()));
  return {};
}

/// Reads two columns of a text, which blanks, tabs, commas or semicolons separate. Lines that begin with # or %, a
/// first line of names and a byte-order mark are skipped. Returns the fault.
std::string read_columns(const std::string& text, const std::string& file, TimeTable& table) {
  if (const auto fault = fault_of_plain_text(text, "a table"))
    return fmt::format("{}:{}:{}: {}", file, fault->line, fault->column, fault->what);
  std::vector<int> lines;
  const auto place = [&](std::size_t n) { return fmt::format("{}:{}", file, lines[n]); };
  std::istringstream stream{std::string(without_byte_order_mark(text))};
  std::string line;
  bool may_be_names = true;
  for (int number = 1; std::getline(stream, line); ++number) {
    line.erase(std::min(line.find_first_of("#%"), line.size()));
    for (char& c : line)
      if (c == ',' || c == ';' || c == '\t' || c == '\r') c = ' ';
    std::istringstream words(line);
    std::vector<std::string> columns;
    for (std::string word; words >> word;) columns.push_back(word);
    if (columns.empty()) continue;
    std::vector<double> numbers;
    for (const std::string& column : columns) {
      if (const auto value = parse_table_number(column)) numbers.push_back(*value);
    }
    if (std::exchange(may_be_names, false) && numbers.empty()) continue;
    if (numbers.size() != columns.size() || columns.size() != 2)
      return fmt::format("{}:{}: '{}' is not a time and a value, two finite numbers", file, number,
                         shortened(fmt::format("{}", fmt::join(columns, " "))));
    lines.push_back(number);
    table.times.push_back(numbers[0]);
    table.values.push_back(numbers[1]);
  }
  const std::string fault = fault_of_points(table, place);
  return fault.empty() || fault.starts_with(file) ? fault : fmt::format("{}: {}", file, fault);
}

YamlEntry list_of(const std::string& name, const std::vector<double>& numbers, const Place& place) {
  YamlNode list{.kind = Kind::sequence, .place = place, .entries = {}};
  for (const double number : numbers)
    list.items.push_back({.kind = Kind::scalar, .place = place, .text = format_real(number), .entries = {}});
  return {name, place, list};
}

/// Replaces the name of a file, given as `table`, by the points in that file, as `times` and `values`. Returns the
/// fault; empty if there is none.
std::string load_table(YamlNode& node, const std::string& base_directory, const TextReader& read) {
  const YamlNode file = *node.find("table");
  if (file.kind != Kind::scalar || file.text.empty()) return "the table is not the name of a file";
  if (node.find("times") != nullptr || node.find("values") != nullptr) return "both a file and points";
  const auto period = period_of(node);
  if (!period) return {};  // fault_of_table reports it
  if (!read) return "a case that is read without its files has no table in a file";
  TimeTable table{.times = {}, .values = {}, .period = *period};
  const std::string path = absolute_path(file, base_directory);
  try {
    std::string fault = read_columns(read(path, max_table_bytes), path, table);
    if (!fault.empty()) return fault;
  } catch (const Error& error) {
    return error.what();
  }
  std::erase_if(node.entries, [](const YamlEntry& entry) { return entry.name == "table"; });
  node.entries.push_back(list_of("times", table.times, file.place));
  node.entries.push_back(list_of("values", table.values, file.place));
  return {};
}

}  // namespace

void load_tables(YamlNode& root, const std::string& base_directory, const TextReader& read, Problems& problems) {
  for (const Key& key : case_keys()) {
    if (!key.value.or_table) continue;
    YamlNode* node = value_at(root, key.path);
    if (node == nullptr || node->find("table") == nullptr) continue;
    const std::string fault = load_table(*node, base_directory, read);
    if (fault.empty()) continue;
    problems.add(node->find("table")->place, key.path, fmt::format("{}; allowed: {}", fault, allowed_text(key)));
    *node = number_one(node->place);
  }
}

std::string fault_of_table(const YamlNode& node) {
  for (const YamlEntry& entry : node.entries) {
    if (entry.name != "table" && entry.name != "times" && entry.name != "values" && entry.name != "period")
      return fmt::format("'{}' is not a part of a table", shortened(entry.name));
  }
  const auto period = period_of(node);
  if (!period) return "the period is not a number > 0, or such a multiple of pi";
  const auto times = numbers_of(node.find("times"));
  const auto values = numbers_of(node.find("values"));
  if (!times || !values) return "a table needs times and values, two lists of finite numbers, or the name of a file";
  if (times->size() != values->size()) return fmt::format("{} times, but {} values", times->size(), values->size());
  return fault_of_points({*times, *values, *period}, [](std::size_t n) { return fmt::format("times[{}]", n); });
}

TimeFunction time_table(const YamlNode& node) {
  if (!fault_of_table(node).empty()) return {};
  return TimeFunction({*numbers_of(node.find("times")), *numbers_of(node.find("values")), *period_of(node)});
}

std::string text_of_table(const TimeTable& table) {
  const auto list = [](const std::vector<double>& numbers) {
    std::vector<std::string> texts;
    for (const double number : numbers) texts.push_back(yaml_real(number));
    return fmt::format("[{}]", fmt::join(texts, ", "));
  };
  const std::string period = table.period > 0 ? ", period: " + yaml_real(table.period) : "";
  return fmt::format("{{times: {}, values: {}{}}}", list(table.times), list(table.values), period);
}

}  // namespace sluice::io
