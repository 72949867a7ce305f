#include "io/case/scalar_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/case/keys.hpp"
#include "io/case/names.hpp"
#include "io/case/rule_notes.hpp"
#include "model/center_quantities.hpp"

namespace sluice::io {

namespace {

class ScalarRules {
 public:
  ScalarRules(const Case& settings, const YamlNode& root, Problems& problems)
      : settings_(settings), problems_(problems), notes_(root, problems) {}

  void check_scalars() {
    const auto& scalars = settings_.flow.scalars;
    for (std::size_t n = 0; n < scalars.size(); ++n) {
      const std::string path = fmt::format("scalars[{}]", n);
      check_scalar_name(path + ".name", scalars, n);
      check_scalar_wall(path + ".walls.bottom", scalars[n].bottom);
      check_scalar_wall(path + ".walls.top", scalars[n].top);
    }
  }

 private:
  void check_scalar_name(const std::string& path, const std::vector<ScalarParameters>& scalars, std::size_t number) {
    if (!problems_.good(path)) return;
    const std::string& name = scalars[number].name;
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const auto is_allowed = [&](char c) { return is_letter(c) || is_digit(c) || c == '_'; };
    const auto is_number = [&](const std::string& text) { return std::ranges::all_of(text, is_digit); };
    constexpr std::size_t max_length = 50;
    if (name.empty() || name.size() > max_length || !is_letter(name[0]) || !std::ranges::all_of(name, is_allowed)) {
      note(path, fmt::format("'{}' cannot name a scalar; allowed: 1 to {} letters, digits and _, first a letter",
                             shortened(name), max_length));
    } else if (name.find_first_not_of("uvwpxyz") == std::string::npos || contains(reserved_names(), name)) {
      note(path, fmt::format("'{}' is the name of something else; allowed: other names, such as temperature", name));
    }
    for (std::size_t n = 0; n < number; ++n) {
      const std::string& other = scalars[n].name;
      if (other == name) note(path, fmt::format("'{}' is the name of another scalar; allowed: different names", name));
      // Statistics of the scalar t have names that begin with t_.
      for (const auto& [whole, part] : {std::pair(name, other), std::pair(other, name)}) {
        if (!whole.starts_with(part + "_") || is_number(whole.substr(part.size() + 1))) continue;
        note(path,
             fmt::format("'{}' begins with '{}_', as statistics of the scalar '{}' do; allowed: other names, such "
                         "as '{}_2'",
                         whole, part, part, part));
      }
    }
  }

  void check_scalar_wall(const std::string& section, const ScalarWall& wall) {
    const std::string path = fmt::format("{}.{}", section, name(wall.kind));
    if (!problems_.good(path) || wall.value.depends_on("xy") || std::isfinite(wall.value.at_time(0))) return;
    note(path, "the formula is not finite at time 0; allowed: one that is finite at all times of the run");
  }

  // Of quantities for pictures, which the case file uses beside scalars. Names in files: src/outputs/file_names.cpp.
  static std::vector<std::string> reserved_names() {
    std::vector<std::string> names;
    for (const CenterQuantity& quantity : center_quantities()) {
      names.push_back(quantity.name);
      for (const FieldDescriptor& component : quantity.components) names.push_back(component.name);
    }
    return names;
  }

  void note(const std::string& path, const std::string& what) { notes_.add(path, what); }

  const Case& settings_;
  Problems& problems_;
  RuleNotes notes_;
};

}  // namespace

void check_scalar_rules(const Case& settings, const YamlNode& root, Problems& problems) {
  ScalarRules rules(settings, root, problems);
  rules.check_scalars();
}

}  // namespace sluice::io
