#include "io/case/yaml_tree.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <locale>
#include <map>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/support/plain_text.hpp"
#include "io/case/numbers.hpp"

namespace sluice::io {

const YamlEntry* YamlNode::find_entry(std::string_view name) const {
  const auto found = std::ranges::find(entries, name, &YamlEntry::name);
  return found == entries.end() ? nullptr : &*found;
}

const YamlNode* YamlNode::find(std::string_view name) const {
  const YamlEntry* entry = find_entry(name);
  return entry == nullptr ? nullptr : &entry->value;
}

YamlNode* YamlNode::find(std::string_view name) {
  const auto found = std::ranges::find(entries, name, &YamlEntry::name);
  return found == entries.end() ? nullptr : &found->value;
}

YamlNode empty_map(const Place& place) {
  return {.kind = YamlNode::Kind::map, .place = place, .entries = {}};
}

YamlNode number_one(const Place& place) {
  return {.kind = YamlNode::Kind::scalar, .place = place, .text = "1", .entries = {}};
}

namespace {

// Far above any real case.
constexpr std::size_t max_values = 10000;
constexpr std::size_t max_depth = 20;
constexpr std::size_t max_name = 100;        // bytes
constexpr std::size_t max_copied = 1048576;  // bytes: aliases of aliases can expand a short text to any size

std::size_t memory_of(const YamlNode& node) {
  std::size_t bytes = sizeof(YamlNode) + node.text.size();
  for (const auto& item : node.items) bytes += memory_of(item);
  for (const auto& entry : node.entries) bytes += entry.name.size() + memory_of(entry.value);
  return bytes;
}

/// Why a text cannot be read, and where.
struct Unreadable {
  YAML::Mark mark;
  std::string why;
  bool is_syntax = false;  ///< YAML does not allow the text; else a limit of ours
  bool open_quote = false;
};

// Builds the tree from yaml-cpp's events. A map under construction alternates between keys and values.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(int source, std::string path, Problems& problems)
      : source_(source), path_(std::move(path)), problems_(problems) {}

  YamlNode root;
  YAML::Mark last_quoted = YAML::Mark::null_mark();  ///< start of the last quoted scalar

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (std::exchange(started_, true)) throw Unreadable{mark, "a second YAML document; a case is one document"};
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    finish(make(YamlNode::Kind::null, mark), mark, anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw YAML::ParserException(mark, "an alias inside the node that it names");
    count_copy(found->second, mark);
    finish(found->second, mark, 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = make(YamlNode::Kind::scalar, mark);
    node.text = value;
    node.quoted = tag == "!";
    if (node.quoted) last_quoted = mark;
    finish(std::move(node), mark, anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(YamlNode::Kind::sequence, mark, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(YamlNode::Kind::map, mark, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YamlNode node;
    YAML::Mark mark;
    YAML::anchor_t anchor;
    std::optional<YamlNode> key;
  };

  YamlNode make(YamlNode::Kind kind, const YAML::Mark& mark) const {
    return {.kind = kind, .place = {source_, mark.line + 1, mark.column + 1}, .entries = {}};
  }

  void open(YamlNode::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (open_.size() == max_depth) throw Unreadable{mark, fmt::format("nested more than {} levels deep", max_depth)};
    open_.push_back({make(kind, mark), mark, anchor, std::nullopt});
  }

  void close() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    finish(std::move(closed.node), closed.mark, closed.anchor);
  }

  void count_copy(const YamlNode& node, const YAML::Mark& mark) {
    copied_ += memory_of(node);
    if (copied_ > max_copied) throw Unreadable{mark, "anchors and aliases expand to more than 1 MiB"};
  }

  // Adds a complete node to the open node around it.
  void finish(YamlNode node, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (++values_ > max_values) {
      throw Unreadable{mark, fmt::format("more than {} keys and values; a case has far fewer", max_values)};
    }
    if (anchor != 0) {
      count_copy(node, mark);
      anchors_[anchor] = node;
    }
    if (open_.empty()) {
      root = std::move(node);
    } else if (open_.back().node.kind == YamlNode::Kind::sequence) {
      open_.back().node.items.push_back(std::move(node));
    } else if (!open_.back().key) {
      open_.back().key = std::move(node);
    } else {
      add_entry(open_.back(), std::move(node));
    }
  }

  void add_entry(Open& map, YamlNode value) {
    const YamlNode key = *std::exchange(map.key, std::nullopt);
    if (key.kind != YamlNode::Kind::scalar || key.text.size() > max_name) {
      problems_.add(key.place, path_, "the name of a key must be a word");
      return;
    }
    map.node.entries.push_back({key.text, key.place, std::move(value)});
  }

  int source_;
  std::string path_;
  Problems& problems_;
  bool started_ = false;
  std::size_t values_ = 0;
  std::size_t copied_ = 0;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, YamlNode> anchors_;
};

void note_duplicates(const YamlNode& node, const std::string& path, Problems& problems) {
  for (std::size_t n = 0; n < node.items.size(); ++n) {
    note_duplicates(node.items[n], fmt::format("{}[{}]", path, n), problems);
  }
  std::unordered_map<std::string_view, int> first_lines;
  for (const auto& entry : node.entries) {
    const std::string key = path.empty() ? entry.name : path + "." + entry.name;
    const auto [first, is_new] = first_lines.emplace(entry.name, entry.place.line);
    if (!is_new) {
      problems.add(entry.place, key,
                   fmt::format("given twice, first in line {}; remove one of the two", first->second));
    }
    note_duplicates(entry.value, key, problems);
  }
}

// yaml-cpp treats some control characters as the end of the file, and a tab in the indentation as part of a value.
bool check_characters(const std::string& text, int source, const std::string& path, Problems& problems) {
  if (const auto fault = fault_of_plain_text(text, "a case file")) {
    problems.add({source, fault->line, fault->column}, path, fault->what);
    return false;
  }
  bool good = true;
  bool indentation = true;
  Place place{source, 1, 1};
  for (const char c : text) {
    if (c == '\t' && indentation) {
      problems.add(place, path, "a tab in the indentation; YAML is indented with spaces");
      good = indentation = false;
    }
    if (c != ' ') indentation = false;
    ++place.column;
    if (c == '\n') {
      ++place.line;
      place.column = 1;
      indentation = true;
    }
  }
  return good;
}

// yaml-cpp closes a quote by itself at a line break that ends the text. A comment behind the text makes it report the
// open quote, and changes nothing else.
std::string with_comment_behind(const std::string& text) {
  const auto last = text.find_last_not_of(' ');
  const bool ends_with_break = last != std::string::npos && (text[last] == '\n' || text[last] == '\r');
  return ends_with_break ? text.substr(0, last + 1) + "#" : text;
}

std::optional<Unreadable> parse(const std::string& text, TreeBuilder& builder) {
  try {
    std::istringstream stream(text);
    stream.imbue(std::locale::classic());
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) continue;
    return std::nullopt;
  } catch (const Unreadable& error) {
    return error;
  } catch (const YAML::Exception& error) {
    const bool open_quote = error.msg == YAML::ErrorMsg::EOF_IN_SCALAR || error.msg == YAML::ErrorMsg::DOC_IN_SCALAR;
    return Unreadable{error.mark, "not valid YAML: " + error.msg, true, open_quote};
  }
}

// If a colon lacks its space in a line at or just above the place of an error, YAML joins the lines around it into one
// text.
std::string colon_advice(const std::string& text, int error_line) {
  std::istringstream lines(text);
  std::string line;
  for (int number = 0; number <= error_line && std::getline(lines, line); ++number) {
    if (number < error_line - 1) continue;
    const auto begin = std::min(line.find_first_not_of(" -"), line.size());
    const auto end = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", begin);
    if (end == std::string::npos || end == begin || line[end] != ':' || end + 1 == line.size()) continue;
    if (line[end + 1] == ' ' || line[end + 1] == '\r') continue;
    return fmt::format("; in line {}, write '{}: {}', with a space behind the colon", number + 1,
                       line.substr(begin, end - begin), shortened(line.substr(end + 1)));
  }
  return {};
}

// yaml-cpp reports where an open quote meets the end of the text; users need the place where it begins. Once closed, it
// is the last quoted value, or, where no quoted value may stand, the place of the error.
Unreadable at_its_beginning(const Unreadable& error, const std::string& text) {
  for (const char quote : {'"', '\''}) {
    Problems ignored("", {});
    TreeBuilder builder(Place::file, "", ignored);
    const std::string closed = text.substr(0, error.mark.pos) + '\n' + quote;
    const auto other = parse(closed, builder);
    if (other && other->open_quote) continue;
    for (const YAML::Mark& mark : {other ? other->mark : builder.last_quoted, builder.last_quoted}) {
      const std::size_t position = mark.pos;
      if (position < closed.size() && closed[position] == quote) {
        return {mark, "not valid YAML: the quote that begins here is not closed"};
      }
    }
  }
  return {error.mark, "not valid YAML: a quote is not closed"};
}

void note_control_character(const std::string& text, const Place& place, const std::string& path, Problems& problems) {
  const auto control = control_character(text);
  if (!control) return;
  problems.add(
      place, path,
      fmt::format("the text \"{}\" has the control character {}; leave it out", control->around, control->name));
}

}  // namespace

void note_control_characters(const YamlNode& node, const std::string& path, Problems& problems) {
  note_control_character(node.text, node.place, path, problems);
  for (std::size_t n = 0; n < node.items.size(); ++n)
    note_control_characters(node.items[n], fmt::format("{}[{}]", path, n), problems);
  for (const YamlEntry& entry : node.entries) {
    note_control_character(entry.name, entry.place, path, problems);
    note_control_characters(entry.value, path.empty() ? entry.name : path + "." + entry.name, problems);
  }
}

std::optional<YamlNode> read_yaml(const std::string& given, int source, const std::string& path, Problems& problems) {
  if (given.size() > max_yaml_bytes) {
    problems.add({source, 1, 1}, path, fmt::format("{} bytes; a case is at most {}", given.size(), max_yaml_bytes));
    return std::nullopt;
  }
  if (!check_characters(given, source, path, problems)) return std::nullopt;
  const std::string text = with_comment_behind(std::string(without_byte_order_mark(given)));  // marks do not count it
  TreeBuilder builder(source, path, problems);
  std::optional<Unreadable> error = parse(text, builder);
  if (!error) {
    note_duplicates(builder.root, path, problems);
    return std::move(builder.root);
  }
  if (error->open_quote) {
    error = at_its_beginning(*error, text);
  } else if (const auto fault = error->is_syntax ? bracket_fault(text) : std::nullopt) {
    problems.add({source, fault->line, fault->column}, path, "not valid YAML: " + fault->what);
    return std::nullopt;
  } else if (error->is_syntax) {
    error->why += colon_advice(text, error->mark.line);
  }
  Place place{source, 1, 1};
  if (!error->mark.is_null()) place = {source, error->mark.line + 1, error->mark.column + 1};
  problems.add(place, path, error->why);
  return std::nullopt;
}

Place place_of(const YamlNode& root, std::string_view path) {
  const YamlNode* node = &root;
  Place place;
  while (!path.empty()) {
    const auto end = std::min(path.find_first_of(".["), path.size());
    const std::string_view part = path.substr(0, end);
    path.remove_prefix(end);
    if (part.ends_with(']')) {
      const auto index = parse_integer(part.substr(0, part.size() - 1)).value_or(0);
      if (static_cast<std::size_t>(index) >= node->items.size()) break;
      node = &node->items[index];
    } else {
      const YamlEntry* entry = node->find_entry(part);
      if (entry == nullptr) break;
      node = &entry->value;
      place = entry->place;
    }
    if (node->kind == YamlNode::Kind::scalar) place = node->place;
    if (!path.empty()) path.remove_prefix(1);
  }
  return place;
}

}  // namespace sluice::io
