#include "io/case/yaml_tree.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <locale>
#include <map>
#include <sstream>

namespace sluice::io {

const YamlEntry* YamlNode::find_entry(std::string_view name) const {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const YamlEntry& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

const YamlNode* YamlNode::find(std::string_view name) const {
  const YamlEntry* entry = find_entry(name);
  return entry == nullptr ? nullptr : &entry->value;
}

YamlNode* YamlNode::find(std::string_view name) {
  return const_cast<YamlNode*>(static_cast<const YamlNode*>(this)->find(name));
}

YamlNode empty_map(const Place& place) {
  YamlNode map;
  map.kind = YamlNode::Kind::map;
  map.place = place;
  return map;
}

namespace {

// Aliases of aliases can expand a short text to any size.
constexpr std::size_t max_nodes = 100000;

std::size_t count_nodes(const YamlNode& node) {
  std::size_t count = 1;
  for (const auto& item : node.items) count += count_nodes(item);
  for (const auto& entry : node.entries) count += count_nodes(entry.value);
  return count;
}

// Builds the tree from yaml-cpp's events. A map under construction alternates between keys and values.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(int source, std::string path, Problems& problems)
      : source_(source), path_(std::move(path)), problems_(problems) {}

  YamlNode root;

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    finish(make(YamlNode::Kind::null, mark), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw YAML::ParserException(mark, "an alias inside the node that it names");
    nodes_ += count_nodes(found->second);
    if (nodes_ > max_nodes) throw YAML::ParserException(mark, "aliases expand to more than 100000 values");
    finish(found->second, 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = make(YamlNode::Kind::scalar, mark);
    node.text = value;
    node.quoted = tag == "!";
    finish(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open_.push_back({make(YamlNode::Kind::sequence, mark), anchor, std::nullopt});
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open_.push_back({make(YamlNode::Kind::map, mark), anchor, std::nullopt});
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YamlNode node;
    YAML::anchor_t anchor;
    std::optional<YamlNode> key;
  };

  YamlNode make(YamlNode::Kind kind, const YAML::Mark& mark) const {
    YamlNode node;
    node.kind = kind;
    node.place = {source_, mark.line + 1, mark.column + 1};
    return node;
  }

  void close() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    finish(std::move(closed.node), closed.anchor);
  }

  // Adds a complete node to the open node around it.
  void finish(YamlNode node, YAML::anchor_t anchor) {
    ++nodes_;
    if (anchor != 0) anchors_[anchor] = node;
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
    if (key.kind != YamlNode::Kind::scalar) {
      problems_.add(key.place, path_, "the name of a key must be a word");
      return;
    }
    map.node.entries.push_back({key.text, key.place, std::move(value)});
  }

  int source_;
  std::string path_;
  Problems& problems_;
  std::size_t nodes_ = 0;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, YamlNode> anchors_;
};

void note_duplicates(const YamlNode& node, const std::string& path, Problems& problems) {
  for (std::size_t n = 0; n < node.items.size(); ++n) {
    note_duplicates(node.items[n], fmt::format("{}[{}]", path, n), problems);
  }
  for (const auto& entry : node.entries) {
    const std::string key = path.empty() ? entry.name : path + "." + entry.name;
    const YamlEntry* first = node.find_entry(entry.name);
    if (first != &entry) {
      problems.add(entry.place, key,
                   fmt::format("given twice, first in line {}; remove one of the two", first->place.line));
    }
    note_duplicates(entry.value, key, problems);
  }
}

// yaml-cpp treats some control characters as the end of the file, and a tab in the indentation as part of a value.
bool check_characters(const std::string& text, int source, const std::string& path, Problems& problems) {
  bool good = true;
  bool indentation = true;
  Place place{source, 1, 1};
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7f) {
      problems.add(place, path, fmt::format("control character 0x{:02x}; a case file is plain text", byte));
      return false;
    }
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

}  // namespace

std::optional<YamlNode> read_yaml(const std::string& text, int source, const std::string& path, Problems& problems) {
  if (!check_characters(text, source, path, problems)) return std::nullopt;
  try {
    std::istringstream stream(text);
    stream.imbue(std::locale::classic());
    YAML::Parser parser(stream);
    TreeBuilder builder(source, path, problems);
    parser.HandleNextDocument(builder);
    TreeBuilder rest(source, path, problems);
    if (parser.HandleNextDocument(rest)) {
      problems.add(rest.root.place, path, "a second YAML document; a case is one document");
      return std::nullopt;
    }
    note_duplicates(builder.root, path, problems);
    return builder.root;
  } catch (const YAML::Exception& error) {
    Place place{source, 1, 1};
    if (!error.mark.is_null()) place = {source, error.mark.line + 1, error.mark.column + 1};
    problems.add(place, path, "not valid YAML: " + error.msg);
    return std::nullopt;
  }
}

}  // namespace sluice::io
