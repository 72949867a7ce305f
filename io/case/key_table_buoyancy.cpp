// The part of the key table that defines buoyancy.
#include <utility>

#include "io/case/key_table.hpp"
#include "io/case/names.hpp"

namespace sluice::io::key_table {

using enum ValueType;
using namespace binding;

namespace {

Key strength(BuoyancyKind kind, const std::string& example, const std::string& meaning) {
  const std::string word(name(kind));
  std::vector<std::string> others = all_names<BuoyancyKind>();
  std::erase(others, word);
  std::erase(others, "none");
  return {.path = "flow.buoyancy." + word,
          .value = alternative(kind, &Case::buoyancy),
          .required = kind == BuoyancyKind::richardson,
          .unit = "1",
          .meaning = meaning,
          .excludes = others,
          .example = example,
          .commented = true};
}

}  // namespace

std::vector<Key> buoyancy_keys() {
  std::vector<Key> keys{{.path = "flow.buoyancy",
                         .value = section_or_none(&Case::buoyancy),
                         .words = {"none"},
                         .fallback = "none",
                         .meaning = "The Boussinesq force of a scalar: fluid with more of it than the reference rises "
                                    "against gravity; g beta is the acceleration per unit C of the scalar.",
                         .commented = true},
                        {.path = "flow.buoyancy.scalar",
                         .value = member(text, &Case::flow, &FlowParameters::buoyancy, &BuoyancyParameters::scalar),
                         .fallback_note = "the first of scalars",
                         .meaning = "Name of the scalar.",
                         .example = "temperature",
                         .commented = true}};
  keys.push_back(strength(BuoyancyKind::richardson, "0.1", "Ri = g beta C h/U^2."));
  keys.push_back(strength(BuoyancyKind::friction_richardson, "18",
                          "Ri_tau = g beta C h/u_tau^2; only where a constant pressure gradient along x alone drives "
                          "the flow, which sets u_tau."));
  keys.push_back(strength(BuoyancyKind::grashof, "1.0e+5", "Gr = g beta C (2h)^3/nu^2."));
  keys.push_back(strength(BuoyancyKind::rayleigh, "1.0e+5", "Ra = g beta C (2h)^3/(nu kappa)."));
  keys.push_back({.path = "flow.buoyancy.direction",
                  .value = member(real, &Case::flow, &FlowParameters::buoyancy, &BuoyancyParameters::direction),
                  .fallback = "[0, 0, -1]",
                  .unit = "1",
                  .meaning = "Direction of gravity, a vector of any length: [0, 0, -1] is down, [-1, 0, 0] makes a "
                             "vertical channel whose flow along x rises.",
                  .commented = true});
  keys.push_back({.path = "flow.buoyancy.reference",
                  .value = member(real, &Case::flow, &FlowParameters::buoyancy, &BuoyancyParameters::reference),
                  .fallback = "0",
                  .unit = "C",
                  .meaning = "Value of the scalar at which there is no force. It matters where gravity has a component "
                             "along x or y; along z the mean pressure balances it.",
                  .commented = true});
  return keys;
}

}  // namespace sluice::io::key_table
