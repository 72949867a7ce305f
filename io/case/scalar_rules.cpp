#include "io/case/scalar_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

  void check_buoyancy() {
    const std::string path = "flow.buoyancy";
    if (!problems_.good(path) || !problems_.good("scalars") || settings_.buoyancy.kind == BuoyancyKind::none) return;
    const auto& scalars = settings_.flow.scalars;
    const std::string& wanted = settings_.flow.buoyancy.scalar;
    std::vector<std::string> names;
    for (const ScalarParameters& scalar : scalars) names.push_back(scalar.name);
    if (names.empty()) {
      note(path, "the case has no scalar that could make fluid light or heavy; allowed: with scalars only");
    } else if (!contains(names, wanted)) {
      note(path + ".scalar",
           fmt::format("'{}' is no scalar of the case; allowed: one of {}", shortened(wanted), fmt::join(names, ", ")));
    }
    if (settings_.flow.buoyancy.direction == std::array<double, 3>{})
      note(path + ".direction", "a vector of length 0 has no direction; allowed: one with a component other than 0");
    if (settings_.buoyancy.kind == BuoyancyKind::friction_richardson) check_friction_velocity();
  }

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
  // What a term says of its mean force; empty if no term has one.
  std::string mean_force() const {
    for (const Physics* term : introduced_physics()) {
      if (std::string force = term->mean_force(settings_.flow); !force.empty()) return force;
    }
    return {};
  }

  // Whether the friction velocity follows from the forces on the fluid.
  void check_friction_velocity() {
    for (const char* needed : {"flow.forcing", "flow.spanwise_forcing", "walls", "domain.size"}) {
      if (!problems_.good(needed)) return;
    }
    for (const Physics* term : introduced_physics()) {
      for (const ParameterKey& key : term->keys()) {
        if (!problems_.good(key.path)) return;
      }
    }
    const FlowParameters& flow = settings_.flow;
    const ForcingParameters& forcing = flow.forcing;
    std::string reason;
    if (forcing.kind != ForcingKind::pressure_gradient) {
      reason = fmt::format("with flow.forcing {} the friction velocity is a result", name(forcing.kind));
    } else if (!forcing.value.is_constant()) {
      reason = "the pressure gradient varies, and with it the friction velocity";
    } else if (forcing.value.at_time(0) <= 0) {
      reason = "a pressure gradient that is not above 0 drives no flow along x";
    } else if (flow.spanwise_forcing.kind != ForcingKind::none) {
      reason = "flow.spanwise_forcing adds to the friction of the walls";
    } else if (const std::string force = mean_force(); !force.empty()) {
      reason = force;
    } else if (flow.buoyancy.direction[0] != 0 || flow.buoyancy.direction[1] != 0) {
      reason = "gravity along x or y is a mean force, which adds to the friction of the walls";
    } else if (!flow.bottom.drags() && !flow.top.drags()) {
      reason = "free-slip walls have no friction";
    }
    if (reason.empty()) return;
    note(
        "flow.buoyancy.friction_richardson",
        reason + "; allowed: with a constant flow.forcing.pressure_gradient > 0 as the only mean force, or richardson");
  }

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
  rules.check_buoyancy();
  rules.check_scalars();
}

}  // namespace sluice::io
