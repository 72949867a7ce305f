// The part of the key table that defines an ensemble.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/case/case.hpp"
#include "io/case/ensemble.hpp"
#include "io/case/key_table.hpp"

namespace sluice::io::key_table {

using enum ValueType;
using namespace binding;

namespace {

/// Written for an ensemble alone.
KeyValue number_of_members() {
  KeyValue members = member(integer, &Case::ensemble, &EnsembleSpec::members);
  members.write = [write = members.write](const Case& settings, std::size_t item) {
    return settings.ensemble.members == 0 ? std::nullopt : write(settings, item);
  };
  return members;
}

/// The keys that members vary.
KeyValue varied_keys() {
  return {.type = lists,
          .read =
              [](Case& settings, std::size_t, const YamlNode& node) {
                settings.ensemble.vary.clear();
                for (const YamlEntry& entry : node.entries) {
                  VariedKey& key = settings.ensemble.vary.emplace_back(entry.name);
                  for (const YamlNode& value : entry.value.items) {
                    std::vector<std::string>& own = key.values.emplace_back();
                    if (value.kind != YamlNode::Kind::sequence) own.push_back(value.text);
                    for (const YamlNode& component : value.items) own.push_back(component.text);
                  }
                }
              },
          .write = [](const Case& settings, std::size_t) -> std::optional<std::string> {
            std::string text;
            for (const VariedKey& key : settings.ensemble.vary) {
              std::vector<std::string> values;
              for (std::size_t member = 0; member < key.values.size(); ++member)
                values.push_back(yaml_of_varied(key, member));
              text += fmt::format("{}{}: [{}]", text.empty() ? "" : ", ", key.path, fmt::join(values, ", "));
            }
            return text.empty() ? std::nullopt : std::optional("{" + text + "}");
          }};
}

}  // namespace

std::vector<Key> ensemble_keys() {
  return {
      {.path = "ensemble",
       .value = section_or_none(&Case::ensemble),
       .words = {"none"},
       .physical = false,
       .fallback = "none",
       .meaning = "Several runs of this case at once, its members, each with the results that it has alone.",
       .commented = true},
      {.path = "ensemble.members",
       .value = number_of_members(),
       .range = {.minimum = {1}, .maximum = 10000},
       .required = true,
       .unit = "1",
       .meaning = "Number of members.",
       .example = "4"},
      {.path = "ensemble.seeds",
       .value = member(integer, &Case::ensemble, &EnsembleSpec::seeds),
       .range = not_negative,
       .fallback_note = "initial.seed",
       .unit = "1",
       .meaning =
           "The initial.seed of the first member, which the others follow by one each; or a list of one for each "
           "member.",
       .example = "1"},
      {.path = "ensemble.vary",
       .value = varied_keys(),
       .fallback_note = "none",
       .meaning = "Keys that differ between members, such as {flow.reynolds.bulk: [5600, 5700]}. Keys of the grid, the "
                  "domain, the solver, the processes and the output cannot.",
       .example = "{time.cfl: [0.6, 0.7, 0.8, 0.9]}"},
  };
}

}  // namespace sluice::io::key_table
