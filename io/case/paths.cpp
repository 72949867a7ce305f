#include "io/case/paths.hpp"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <span>
#include <sstream>

#include "io/case/keys.hpp"

namespace sluice::io {

namespace {

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// The path with its variables replaced; or the fault.
struct Expanded {
  std::string path, fault;
};

class Expansion {
 public:
  Expansion(std::string_view text, const VariableReader& variable) : rest_(text), variable_(variable) {}

  Expanded run() {
    if (rest_.starts_with('~')) expand_home();
    while (!rest_.empty() && result_.fault.empty()) {
      const std::size_t length = rest_.find('$');
      result_.path += rest_.substr(0, length);
      if (length == std::string_view::npos) break;
      rest_.remove_prefix(length + 1);
      expand_name();
    }
    return result_;
  }

 private:
  void expand_home() {
    rest_.remove_prefix(1);
    if (!rest_.empty() && rest_.front() != '/') {
      result_.fault = "~USER is not supported; allowed: ~/, or the whole path";
      return;
    }
    append("HOME");
  }

  /// `rest_`: the text after a $. A $ that begins no name is an ordinary character.
  void expand_name() {
    const bool in_braces = rest_.starts_with('{');
    if (!in_braces && (rest_.empty() || !is_of_name(rest_.front()))) {
      result_.path += '$';
      return;
    }
    if (in_braces) rest_.remove_prefix(1);
    std::size_t length = 0;
    while (length < rest_.size() && is_of_name(rest_[length])) ++length;
    const std::string name(rest_.substr(0, length));
    rest_.remove_prefix(length);
    if (name.empty() || (in_braces && !rest_.starts_with('}'))) {
      result_.fault =
          "${ in a path must begin the name of an environment variable, and } end it; allowed: $NAME, ${NAME}";
      return;
    }
    if (in_braces) rest_.remove_prefix(1);
    append(name);
  }

  void append(const std::string& name) {
    const std::optional<std::string> value = variable_(name);
    if (value && !value->empty()) {
      result_.path += *value;
    } else {
      result_.fault = fmt::format("the environment variable {} is {}; allowed: one that is set, or the path itself",
                                  name, value ? "empty" : "not set");
    }
  }

  std::string_view rest_;
  const VariableReader& variable_;
  Expanded result_;
};

}  // namespace

YamlNode* value_at(YamlNode& root, const std::string& path) {
  YamlNode* node = &root;
  std::istringstream parts(path);
  for (std::string name; node != nullptr && std::getline(parts, name, '.');) node = node->find(name);
  return node;
}

void expand_paths(YamlNode& root, const VariableReader& variable, Problems& problems) {
  for (const Key& key : case_keys()) {
    YamlNode* const value = value_at(root, key.path);
    YamlNode* const node = value != nullptr && key.value.or_table ? value->find("table") : value;
    if (node == nullptr || (!key.value.or_table && key.value.type != ValueType::path)) continue;
    const bool list = key.value.is_list() && node->kind == YamlNode::Kind::sequence;
    for (YamlNode& one : list ? std::span(node->items) : std::span(node, 1)) {
      if (one.kind != YamlNode::Kind::scalar) continue;
      const auto [path, fault] = Expansion(one.text, variable).run();
      if (fault.empty()) {
        one.text = path;
      } else {
        problems.add(one.place, key.path, fault);
        (list ? one : *value) = number_one(value->place);
      }
    }
  }
}

std::string absolute_path(const YamlNode& node, const std::string& base_directory) {
  if (node.text.empty()) return {};
  const std::filesystem::path folder = node.place.source > Place::file ? "" : base_directory;
  const auto whole = std::filesystem::absolute(folder / node.text).lexically_normal();
  return whole.has_filename() ? whole.string() : whole.parent_path().string();
}

}  // namespace sluice::io
