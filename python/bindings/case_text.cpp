// Keys and values of cases, and messages about them: python/sluice/case.py.
#include "python/bindings/case_text.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/case/keys.hpp"
#include "io/case/numbers.hpp"
#include "io/case/problems.hpp"
#include "io/case/yaml_tree.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace sluice::python {
namespace {

nb::object scalar(const io::YamlNode& node) {
  if (!node.quoted) {
    if (node.text == "true" || node.text == "false") return nb::bool_(node.text == "true");
    if (nb::object number = nb::steal(PyLong_FromString(node.text.c_str(), nullptr, 10)); number.is_valid())
      return number;
    PyErr_Clear();
    if (const std::optional<double> number = io::parse_real(node.text)) return nb::float_(*number);
  }
  return nb::str(node.text.c_str(), node.text.size());
}

/// A tree as dicts, lists, numbers, bools, texts and None.
nb::object as_object(const io::YamlNode& node) {
  switch (node.kind) {
    case io::YamlNode::Kind::null:
      return nb::none();
    case io::YamlNode::Kind::scalar:
      return scalar(node);
    case io::YamlNode::Kind::sequence: {
      nb::list items;
      for (const io::YamlNode& item : node.items) items.append(as_object(item));
      return items;
    }
    case io::YamlNode::Kind::map:
      break;
  }
  nb::dict entries;
  for (const io::YamlEntry& entry : node.entries) entries[entry.name.c_str()] = as_object(entry.value);
  return entries;
}

nb::object yaml_values(const std::string& text, const std::string& file) {
  io::Problems problems(file, {});
  const std::optional<io::YamlNode> root = io::read_yaml(text, io::Place::file, "", problems);
  problems.raise();
  return as_object(*root);
}

bool is_key(const std::string& path) {
  return io::find_key(path) != nullptr && path.find("[]") == std::string::npos;
}

std::vector<std::string> nearest_keys(const std::string& path) {
  const auto dot = path.rfind('.');
  const bool inside = dot != std::string::npos;
  std::vector<std::string> near =
      io::nearest_keys(inside ? path.substr(0, dot) : "", inside ? path.substr(dot + 1) : path);
  std::erase_if(near, [](const std::string& one) { return one.find("[]") != std::string::npos; });
  return near;
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> options{{
    {"--restart auto", "restart=\"auto\""},
    {"--overwrite", "overwrite=True"},
    {"--allow-change", "allow_change=True"},
    {"--output", "output=..."},
}};

}  // namespace

std::string for_python(std::string message) {
  for (const auto& [option, argument] : options) {
    for (std::size_t at = 0; (at = message.find(option, at)) != std::string::npos; at += argument.size())
      message.replace(at, option.size(), argument);
  }
  // "--set KEY=VALUE", at the start of a line
  constexpr std::string_view set = "--set ";
  for (std::size_t at = 0; (at = message.find(set, at)) != std::string::npos; ++at) {
    const std::size_t equals = message.find('=', at);
    if (equals == std::string::npos || (at > 0 && message[at - 1] != '\n')) continue;
    const std::string key = message.substr(at + set.size(), equals - at - set.size());
    message.replace(at, equals + 1 - at, fmt::format("case[\"{}\"] = ", key));
  }
  return message;
}

void add_case_text(nb::module_& module) {
  module.def("yaml_values", yaml_values, "text"_a, "file"_a);
  module.def("is_key", is_key, "path"_a);
  module.def("nearest_keys", nearest_keys, "path"_a);
  module.def("for_python", for_python, "message"_a);
}

}  // namespace sluice::python
