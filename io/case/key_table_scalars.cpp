// The part of the key table that defines the scalars.
#include <utility>

#include "io/case/case.hpp"
#include "io/case/key_table.hpp"

namespace sluice::io::key_table {

using enum ValueType;
using namespace binding;

namespace {

/// A value bound to a member of each scalar.
template <class T>
KeyValue of_scalar(ValueType type, T ScalarParameters::*path) {
  return bind(
      type, {}, [=](auto& settings, std::size_t item) -> auto& { return settings.flow.scalars[item].*path; });
}

/// One of several alternatives of a member {kind, value} of each scalar.
template <class Kind, class Member>
KeyValue alternative_of_scalar(Kind kind, Member ScalarParameters::*path) {
  return alternative_at(
      kind, [=](auto& settings, std::size_t item) -> auto& { return settings.flow.scalars[item].*path; });
}

/// What is given at a wall: a formula of x, y and t.
KeyValue at_wall(ScalarWallKind kind, ScalarWall ScalarParameters::*wall) {
  KeyValue value = alternative_of_scalar(kind, wall);
  value.variables = "xyt";
  return value;
}

std::vector<Key> wall_of_scalar(const std::string& side, ScalarWall ScalarParameters::*wall) {
  const std::string path = "scalars[].walls." + side;
  return {{.path = path, .fallback_note = "{flux: 0}", .meaning = "The scalar at the " + side + " wall."},
          {.path = path + ".value",
           .value = at_wall(ScalarWallKind::value, wall),
           .unit = "C",
           .meaning = "Its value; formulas may vary over the wall and in time.",
           .excludes = {"flux"},
           .example = side == "bottom" ? "1" : "0"},
          {.path = path + ".flux",
           .value = at_wall(ScalarWallKind::flux, wall),
           .unit = "C U",
           .meaning = "Its flux into the fluid, kappa times the derivative along the normal that points out of it; "
                      "formulas may vary over the wall and in time.",
           .excludes = {"value"},
           .example = "0",
           .commented = true}};
}

/// The word none in place of the section.
KeyValue source_or_none() {
  return {.read =
              [](Case& settings, std::size_t item, const YamlNode& node) {
                if (node.kind == YamlNode::Kind::scalar) settings.flow.scalars[item].source = {};
              },
          .write = [](const Case& settings, std::size_t item) -> std::optional<std::string> {
            return settings.flow.scalars[item].source == TermParameters{} ? std::optional<std::string>("none")
                                                                          : std::nullopt;
          }};
}

KeyValue initial_of_scalar() {
  KeyValue value = of_scalar(formula, &ScalarParameters::initial);
  value.variables = "xyz";
  return value;
}

}  // namespace

std::vector<Key> scalar_keys() {
  std::vector<Key> keys{
      {.path = "scalars",
       .value = list_of(&Case::flow, &FlowParameters::scalars),
       .fallback = "[]",
       .meaning =
           "Scalars that the flow transports, such as temperature: dc/dt + div(u c) = kappa lap c + source. C is "
           "the unit of a scalar.",
       .commented = true},
      {.path = "scalars[].name",
       .value = of_scalar(text, &ScalarParameters::name),
       .required = true,
       .meaning = "Its name in files: letters, digits and _, beginning with a letter.",
       .example = "temperature"},
      {.path = "scalars[].prandtl",
       .value = of_scalar(real, &ScalarParameters::prandtl),
       .range = positive,
       .fallback = "1",
       .unit = "1",
       .meaning = "Prandtl or Schmidt number nu/kappa.",
       .example = "0.71"},
      {.path = "scalars[].walls", .meaning = "The scalar at the walls."},
  };
  for (auto& key : wall_of_scalar("bottom", &ScalarParameters::bottom)) keys.push_back(std::move(key));
  for (auto& key : wall_of_scalar("top", &ScalarParameters::top)) keys.push_back(std::move(key));
  keys.push_back({.path = "scalars[].source",
                  .value = source_or_none(),
                  .words = {"none"},
                  .fallback = "none",
                  .meaning = "What adds to the scalar in the fluid.",
                  .commented = true});
  keys.push_back({.path = "scalars[].initial",
                  .value = initial_of_scalar(),
                  .fallback_note = "linear between walls of given value; the value of one such wall; 0",
                  .unit = "C",
                  .meaning = "The scalar at time 0, unless initial.type is fields or checkpoint.",
                  .example = "1 - z/2",
                  .commented = true});
  return keys;
}

}  // namespace sluice::io::key_table
